"""LightGBM boosters of the rankers: of years and of hazards, their own evaluator, and the check of saved trees."""
