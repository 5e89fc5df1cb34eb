#!/bin/sh
# Backs up the survey of compose.yaml while people answer, and keeps thirty days, in a folder
# outside this copy of the repository:
#   sudo sh deploy/backup.sh /backups
set -eu
umask 077
to=$(cd "$1" && pwd)
today="survey-$(date +%F).sqlite3"
cd "$(dirname "$0")/.."

docker compose exec -T survey survey backup --force /backups/survey.sqlite3
docker compose cp survey:/backups/survey.sqlite3 "$to/$today"
docker compose cp survey:/data/secret_key "$to/secret_key"
# It is there once somebody was erased.
if [ -n "$(docker compose exec -T survey find /data -name erased.txt)" ]; then
  docker compose cp survey:/data/erased.txt "$to/erased.txt"
fi
find "$to" -name 'survey-*.sqlite3' -mtime +30 -delete
