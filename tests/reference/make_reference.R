# Reference values from R's survival package, for tests/models and tests/metrics.
# Rscript tests/reference/make_reference.R   (Debian: r-cran-survival, r-cran-jsonlite)
library(survival)
library(jsonlite)

here <- dirname(sub("--file=", "", grep("--file=", commandArgs(FALSE), value = TRUE)))
d <- read.csv(file.path(here, "patients.csv"))
at <- c(0.5, 1, 2.25, 5, 8, 12)

km <- function(weights = NULL) {
  fit <- survfit(Surv(time, event) ~ 1, data = d, weights = weights)
  s <- summary(fit, times = at, extend = TRUE)
  list(survival = s$surv, std_err = s$std.err)
}
# censoring, with events before censorings at a tied time: reverse Kaplan-Meier of the times shifted by hand
d$gtime <- ifelse(d$event == 1, d$time - 1e-6, d$time)
g <- summary(survfit(Surv(gtime, 1 - event) ~ 1, data = d), times = at, extend = TRUE)$surv

cox <- function(ties, weights = NULL) {
  fit <- coxph(Surv(time, event) ~ age + sex + x, data = d, ties = ties, weights = weights, robust = FALSE,
               control = coxph.control(eps = 1e-12, toler.chol = 1e-13, iter.max = 100))
  new <- data.frame(age = c(40, 65), sex = c(1, 0), x = c(-1, 0.5))
  curve <- survfit(fit, newdata = new, stype = 2, ctype = 1)
  list(coef = unname(coef(fit)), se = unname(sqrt(diag(fit$naive.var %||% fit$var))), loglik = fit$loglik[2],
       survival = t(summary(curve, times = at, extend = TRUE)$surv))
}
`%||%` <- function(a, b) if (is.null(a)) b else a

weibull <- survreg(Surv(time, event) ~ age + sex + x, data = d, dist = "weibull",
                   control = survreg.control(rel.tolerance = 1e-14, maxiter = 200))
conc <- function(score) {
  d$ranked <- score
  fit <- concordance(Surv(time, event) ~ ranked, data = d)
  list(concordance = unname(fit$concordance), concordant = unname(fit$count["concordant"]),
       tied_x = unname(fit$count["tied.x"]), discordant = unname(fit$count["discordant"]))
}

out <- list(
  versions = list(R = R.version.string, survival = as.character(packageVersion("survival"))),
  times = at,
  km = km(), km_weighted = km(d$weight), censoring = g,
  cox_breslow = cox("breslow"), cox_efron = cox("efron"), cox_breslow_weighted = cox("breslow", d$weight),
  cox_efron_weighted = cox("efron", d$weight),
  weibull = list(coef = unname(coef(weibull)), scale = weibull$scale, loglik = weibull$loglik[2]),
  concordance_tied = conc(d$score), concordance = conc(-d$x)
)
write_json(out, file.path(here, "r_survival.json"), digits = 15, auto_unbox = TRUE, pretty = TRUE)
