# Makes thoracic_data.sas7bdat from patients.csv, whose patients are made up: star_release.py in tests/data/star wrote
# made_up_patients(30, random_state=1) with write_csv.
# Run in this folder:  Rscript make.R
# Made with R 4.3.3 and haven 2.5.4; Python has no writer of SAS files.
library(haven)

patients <- read.csv("patients.csv", colClasses = "character", check.names = FALSE)
for (name in names(patients)) {
  values <- patients[[name]]
  values[values == ""] <- NA
  known <- values[!is.na(values)]
  if (length(known) && all(grepl("^[0-9]{4}-[0-9]{2}-[0-9]{2}$", known))) {
    patients[[name]] <- as.Date(values)
  } else if (all(grepl("^[-+]?[0-9.]+(e[-+]?[0-9]+)?$", known))) {
    patients[[name]] <- as.numeric(values)
  } else {
    patients[[name]] <- ifelse(is.na(values), "", values)
  }
}
suppressWarnings(write_sas(patients, "thoracic_data.sas7bdat"))
