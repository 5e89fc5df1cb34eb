# Decides between the measures of this study once more, in R, from long.csv beside this file:
#
#   Rscript analysis.R
#
# long.csv has a row for each counted response and two measures. d, from -1 to 1, is how much better
# the first of the two did in that response than the second; codebook.csv says more of all columns.
# The packages lme4 and ordinal (the latter in studies of preferences) are all that R needs.

say <- function(...) cat(strwrap(paste0(...), 92), sep = "\n")
item <- function(...) cat(strwrap(paste0(...), 92, indent = 2, exdent = 4), sep = "\n")
leave <- function(...) {
  message(paste(strwrap(paste0(...), 92), collapse = "\n"))
  quit(status = 1)
}

folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
folder <- if (length(folder)) gsub("~+~", " ", folder, fixed = TRUE) else "."
read_table <- function(name) {
  read.csv(file.path(folder, name), na.strings = "", colClasses = "character", encoding = "UTF-8")
}
if (!file.exists(file.path(folder, "long.csv"))) {
  leave("There is no long.csv in ", normalizePath(folder), ". Unpack the whole bundle and run ",
        "analysis.R where it is.")
}
long <- read_table("long.csv")
for (column in c("d", "position", "seconds")) long[[column]] <- as.numeric(long[[column]])
of_preferences <- file.exists(file.path(folder, "preferences.csv"))

needed <- c("lme4", if (of_preferences) "ordinal")
lacking <- needed[!vapply(needed, requireNamespace, logical(1), quietly = TRUE)]
if (length(lacking)) {
  leave("R does not have the package ", paste(lacking, collapse = " and "), ". On Debian or ",
        "Ubuntu: sudo apt install ", paste0("r-cran-", lacking, collapse = " "), ". Elsewhere, in ",
        "R: install.packages(c(", paste0('"', lacking, '"', collapse = ", "), "))")
}
if (!nrow(long)) leave("long.csv has no row: no response is counted yet.")

# Questions of the same topic belong together, where a topic has several (studies of preferences).
long$topic <- ifelse(is.na(long$topic), paste("question", long$question), long$topic)
by <- if (length(unique(long$question)) > length(unique(long$topic))) "topic" else "question"
effects <- paste0("(1 | participant) + (1 | ", by, ")")

number <- function(value, digits = 4) formatC(value, digits = digits, format = "f")
exact <- function(value) formatC(value, digits = 5, format = "g")
points <- function(value) formatC(100 * value, digits = 1, format = "f", flag = "+")
p_text <- function(p, equals = "") {
  if (is.na(p)) return("undefined")
  if (p < .0001) "< .0001" else paste0(equals, sub("^0", "", number(p)))
}
contrasts <- c(
  balanced = "contradictory, with as many ties (balanced)",
  unbalanced = "contradictory, with more ties of one (unbalanced)",
  ties_only = "different by ties only (ties_only)",
  identical = "the same (identical)"
)
count <- function(values, noun) {
  n <- length(unique(values))
  paste0(n, " ", noun, if (n != 1) "s")
}

# Both measures of a pair, whose names may hold a hyphen: S-recall@10-AP.
measures <- character()
if (file.exists(file.path(folder, "rankings.csv"))) measures <- read_table("rankings.csv")$measure
sides <- function(pair) {
  at <- gregexpr("-", pair, fixed = TRUE)[[1]]
  first <- substring(pair, 1, at - 1)
  second <- substring(pair, at + 1)
  right <- if (length(at) == 1) 1 else which(first %in% measures & second %in% measures)
  if (length(right) == 1) c(first[right], second[right]) else c("the first", "the second")
}

# Fits a model; returns it with its warnings, or the reason why there is none.
fitted_model <- function(fit) {
  notes <- character()
  model <- tryCatch(
    withCallingHandlers(
      fit(),
      warning = function(w) {
        notes <<- c(notes, conditionMessage(w))
        invokeRestart("muffleWarning")
      },
      message = function(m) invokeRestart("muffleMessage")
    ),
    error = function(e) conditionMessage(e)
  )
  if (is.character(model)) return(list(why = gsub("\\s+", " ", model)))
  list(fit = model, notes = notes)
}
why_no_model <- function(rows) {
  people <- length(unique(rows$participant))
  questions <- length(unique(rows[[by]]))
  if (people < 2 || questions < 2 || nrow(rows) < people + questions) {
    paste0("No model: it needs two participants, two ", by, "s and as many responses as both ",
           "together; there are ", people, ", ", questions, " and ", nrow(rows), ".")
  }
}
remarks <- function(model, singular) {
  if (singular) item("Singular fit (see the end): a variance is estimated as 0.")
  for (note in model$notes) item("R remarks: ", note)
}

# How many participants (or questions) of equal weight those are who gave different numbers of
# responses, by what each adds to the variance of the mean.
effective <- function(counts, variance = 0, rest = 1) {
  weights <- counts^2 * variance + counts * rest
  if (all(weights == 0)) length(counts) else sum(weights)^2 / sum(weights^2)
}

# The mean of d over participants and questions that are both drawn from more. df: Satterthwaite's
# for the components of the variance of a mean, not below those of the fewer of the two.
crossed <- function(rows) {
  why <- why_no_model(rows)
  if (all(rows$d == rows$d[1])) why <- paste0("No model: d is ", rows$d[1], " in every response.")
  if (!is.null(why)) return(list(why = why))
  formula <- as.formula(paste("d ~ 1 +", effects))
  model <- fitted_model(function() lme4::lmer(formula, rows))
  if (is.null(model$fit)) return(list(why = paste("No model: R says:", model$why)))
  variances <- as.data.frame(lme4::VarCorr(model$fit))
  variance <- setNames(variances$vcov, variances$grp)
  n <- nrow(rows)
  counts <- list(table(rows$participant), table(rows[[by]]))
  numbers <- c(effective(counts[[1]], variance[["participant"]], variance[["Residual"]]),
               effective(counts[[2]], variance[[by]], variance[["Residual"]]))
  rest <- variance[["Residual"]] / n
  parts <- c(variance[["participant"]] * sum(counts[[1]]^2) / n^2 + rest,
             variance[[by]] * sum(counts[[2]]^2) / n^2 + rest)
  dfs <- pmax(numbers, 2) - 1
  df <- (sum(parts) - rest)^2 / (sum(parts^2 / dfs) + rest^2 / (n - sum(lengths(counts)) + 1))
  estimate <- lme4::fixef(model$fit)[[1]]
  se <- sqrt(as.matrix(vcov(model$fit))[1, 1])
  df <- max(df, min(dfs))
  c(model, list(estimate = estimate, se = se, t = estimate / se, df = df, variance = variance,
                p = 2 * pt(-abs(estimate / se), df), numbers = numbers))
}

# The same for these questions: only participants are drawn from more.
of_these <- function(rows) {
  means <- tapply(rows$d, rows$participant, mean)
  if (length(means) < 2) return(list(why = "No test: it needs two participants.", p = NA))
  if (diff(range(means)) < 1e-9) {  # by flips of the signs of the means
    p <- if (abs(means[1]) < 1e-9) NA else 2^(1 - length(means))
    return(list(why = "No t test: all participants have the same mean.", p = p))
  }
  test <- t.test(means)
  list(mean = test$estimate[[1]], t = test$statistic[[1]], df = test$parameter[[1]],
       p = test$p.value)
}

# Whether responses that decide are rather for the first measure.
direction <- function(rows, first) {
  rows <- rows[rows$d != 0, ]
  wins <- sum(rows$d > 0)
  item(wins, " of ", nrow(rows), " responses in which d is not 0 are for ", first, ".")
  why <- why_no_model(rows)
  if (is.null(why) && wins %in% c(0, nrow(rows))) why <- "No model: all are for the same measure."
  if (!is.null(why)) return(item(why))
  formula <- as.formula(paste("d > 0 ~ 1 +", effects))
  model <- fitted_model(function() lme4::glmer(formula, rows, family = binomial))
  if (is.null(model$fit)) return(item("No model: R says: ", model$why))
  row <- coef(summary(model$fit))[1, ]
  item("Log odds ", number(row[[1]]), ", standard error ", number(row[[2]]), ", z = ",
      number(row[[3]], 2), ", p ", p_text(row[[4]], "= "))
  remarks(model, lme4::isSingular(model$fit))
}

# Preferences as ordered categories, by how strong they are where that was asked: from strongly for
# the list that the second measure favours, over neither list, to strongly for that of the first.
# Of questions in which the two measures favour opposite lists.
ordinal_model <- function(rows, first) {
  opposite <- rows[rows$contrast %in% c("balanced", "unbalanced"), ]
  answers <- read_table("preferences.csv")
  people <- read_table("participants.csv")
  counted <- answers$participant %in% people$participant[people$excluded != "1"]
  answers <- answers[counted & answers$question %in% opposite$question, ]
  answers$topic <- opposite$topic[match(answers$question, opposite$question)]
  key <- function(table) paste(table$participant, table$question)
  side <- sign(opposite$d)[match(key(answers), key(opposite))]
  strength <- ifelse(is.na(answers$strength), 1, as.numeric(answers$strength))
  value <- ifelse(is.na(side), 0, side * strength)
  if (!nrow(opposite)) return(item("No response is to a question in which they do."))
  item("Answers to questions in which the two favour opposite lists, from against to for ", first,
       ": ", paste(names(table(value)), table(value), sep = ": ", collapse = ", "), ".")
  answers$y <- factor(value, ordered = TRUE)
  why <- why_no_model(answers)
  if (is.null(why) && nlevels(answers$y) < 3) why <- "No model: it needs three categories."
  if (!is.null(why)) return(item(why))
  formula <- as.formula(paste("y ~ 1 +", effects))
  for (name in c("participant", by)) answers[[name]] <- factor(answers[[name]])
  model <- fitted_model(function() ordinal::clmm(formula, data = answers, threshold = "symmetric"))
  if (is.null(model$fit)) return(item("No model: R says: ", model$why))
  central <- grep("^central", names(coef(model$fit)), value = TRUE)
  middle <- -mean(coef(model$fit)[central])
  covariance <- tryCatch(vcov(model$fit)[central, central], error = function(e) NA)
  se <- suppressWarnings(sqrt(sum(covariance)) / length(central))
  z <- middle / se
  item("Middle of the categories on the logit scale ", number(middle), ", standard error ",
       number(se), ", z = ", number(z, 2), ", p ", p_text(2 * pnorm(-abs(z)), "= "))
  remarks(model, any(unlist(ordinal::VarCorr(model$fit)) < 1e-6))
}

pairs <- unique(long$pair)
of_pair <- lapply(setNames(pairs, pairs), function(pair) long[long$pair == pair, ])
kind <- lapply(of_pair, crossed)
these <- lapply(of_pair, of_these)
measured <- lapply(setNames(pairs, pairs), sides)
# How many participants and questions of equal weight each pair has.
numbers <- sapply(pairs, function(pair) {
  rows <- of_pair[[pair]]
  if (!is.null(kind[[pair]]$numbers)) return(kind[[pair]]$numbers)
  c(effective(table(rows$participant)), effective(table(rows[[by]])))
})
# The primary pair of the plan is tested first, by itself; no p of another pair is below its p.
plan <- file.path(folder, "study.json")
plan <- if (file.exists(plan)) paste(readLines(plan, warn = FALSE), collapse = "") else ""
primary <- sub('.*"primary": *"([^"]*)".*', "\\1", grep('"primary": *"', plan, value = TRUE))
primary <- intersect(pairs, primary)
corrected <- function(p) {
  after_holm <- p.adjust(p, "holm", length(pairs))
  after_holm[primary] <- p[primary]
  after_holm
}
p_of <- function(tests) {
  vapply(tests, function(test) if (is.null(test$p)) NA_real_ else as.numeric(test$p), 0)
}
all_same <- vapply(of_pair, function(rows) all(rows$d == rows$d[1]) && rows$d[1] != 0, NA)

# No p is below what so few participants or questions can show if all agree. For these questions
# it is bounded before it is corrected; questions of this kind are decided only where the p for
# these questions, not corrected, is small too.
p_these <- pmax(p_of(these), 2^(1 - numbers[1, ]))
p_kind <- ifelse(all_same, 0, corrected(p_of(kind)))
p_kind <- pmax(p_kind, 2^(1 - numbers[2, ]), p_these)
p_these <- corrected(p_these)
names(p_kind) <- names(p_these) <- pairs
if (length(primary)) {
  p_kind <- pmax(p_kind, p_kind[[primary]])
  p_these <- pmax(p_these, p_these[[primary]])
}

decision <- function(pair) {
  lead <- mean(of_pair[[pair]]$d)
  ahead <- measured[[pair]][if (lead < 0) 2 else 1]
  result <- "open"
  if (isTRUE(p_these[[pair]] < .05)) result <- paste(ahead, "preferred, in these questions only")
  if (isTRUE(p_kind[[pair]] < .05)) {
    result <- paste(ahead, "preferred, in questions of this kind too")
  }
  data.frame(pair = pair, lead = points(lead), p.kind = p_text(p_kind[[pair]]),
             p.these = p_text(p_these[[pair]]), decision = result)
}

title <- function(text) cat("\n", text, "\n", strrep("-", nchar(text)), "\n", sep = "")

say("Measures compared once more, by analysis.R with ", R.version.string, ", lme4 ",
    as.character(packageVersion("lme4")), ".")
say(count(long$participant, "participant"), ", ", count(long$question, "question"), ", ",
    count(paste(long$participant, long$question), "counted response"), ".")

title("Decision at 5 %")
options(width = 120)
print(do.call(rbind, lapply(pairs, decision)), row.names = FALSE, right = FALSE)
say("lead: 100 times the mean of d, above 0 for the first measure of the pair. p.kind: for new ",
    "questions of this kind and new participants; p.these: for these questions and new ",
    "participants. Each is corrected for ", count(pairs, "pair"), " by Holm's method",
    if (length(primary)) paste0(" (but for the primary pair, ", primary, ", tested first)"),
    ". So few can show no p below 2^(1 - n) if all agree: p.these is not below it before the ",
    "correction, n the number of participants (of equal weight); p.kind is not below it for ",
    "participants or for ", by, "s, nor below p.these before its correction.")
if (!of_preferences) {
  say("Where lists could be ticked, the survey decides only if random ticks do not explain a lead ",
      "(label_permutation and above_random_clicks in analysis.json), which is not tested here.")
}

for (pair in pairs) {
  rows <- of_pair[[pair]]
  title(pair)
  say("d of a response is above 0 where it is rather for ", measured[[pair]][1], ", below 0 for ",
      measured[[pair]][2], "; its mean:")
  item(exact(mean(rows$d)), " in all ", nrow(rows), " responses")
  for (contrast in unique(rows$contrast)) {
    part <- rows[rows$contrast == contrast, ]
    item(exact(mean(part$d)), " in ", nrow(part), " responses to ",
         count(part$question, "question"), " where the two orders are ", contrasts[[contrast]])
  }
  say("Questions of this kind: lmer(d ~ 1 + ", effects, ")")
  model <- kind[[pair]]
  if (is.null(model$fit)) {
    item(model$why)
  } else {
    item("Estimate ", exact(model$estimate), ", standard error ", exact(model$se), ", t = ",
         number(model$t, 2), ", df = ", number(model$df, 1), ", p ", p_text(model$p, "= "))
    item("Variance of participants ", exact(model$variance[["participant"]]), ", of ", by, "s ",
         exact(model$variance[[by]]), ", rest ", exact(model$variance[["Residual"]]))
    remarks(model, lme4::isSingular(model$fit))
  }
  say("These questions: t test of the participants' means of d")
  test <- these[[pair]]
  if (!is.null(test$why)) item(test$why)
  if (!is.null(test$t)) {
    item("Mean ", exact(test$mean), ", t = ", number(test$t, 2), ", df = ", test$df, ", p ",
         p_text(test$p, "= "))
  }
  say("Direction alone: glmer(d > 0 ~ 1 + ", effects, ", family = binomial), where d is not 0")
  direction(rows, measured[[pair]][1])
  if (of_preferences) {
    say("Ordered preferences, where the two favour opposite lists: clmm(y ~ 1 + ", effects, ")")
    ordinal_model(rows, measured[[pair]][1])
  }
}

title("Beside the survey's own figures")
say("They are in analysis.json, under differences (under own_orderings where people only ordered ",
    "lists): components and kind for questions of this kind, participants and these for these ",
    "questions. Where everyone answered every question and no variance is near 0, estimates, ",
    "standard errors, t, df and their p are the same to the digits printed, and so is p.these. ",
    "p.kind may differ, and near 5 % the decision with it: the survey corrects it by the largest ",
    "|t| of all pairs, which is a little less strict than Holm's method. In a singular fit a ",
    "variance that would be below 0 is set to 0: ",
    "participants, or ", by, "s, differ no more than chance makes them differ. There, and where ",
    "people answered different questions, the figures differ a little, since lmer weighs ",
    "responses and the survey's mean does not. Where looks at results were ",
    "planned, they share the 5 %, and the survey's level is lower.")
