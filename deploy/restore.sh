#!/bin/sh
# Brings a backup made by backup.sh into the containers, which run; what they held is backed up first:
#   sudo sh deploy/restore.sh /backups survey-2027-01-31.sqlite3
set -eu
from=$(cd "$1" && pwd)
backup=$2
cd "$(dirname "$0")/.."

# Written by the container's own user, who alone may read it.
put() {
  docker compose exec -T survey sh -c "umask 077; cat $1 $2"
}
put '>' /backups/restored.sqlite3 < "$from/$backup"
put '>' /data/secret_key < "$from/secret_key"
# Whoever was erased here since stays erased too, so it is added to.
if [ -f "$from/erased.txt" ]; then put '>>' /data/erased.txt < "$from/erased.txt"; fi
docker compose exec -T survey survey restore --replace /backups/restored.sqlite3
docker compose restart survey
