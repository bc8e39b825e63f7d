CREATE TABLE `margin_days` (
	`day` integer NOT NULL,
	`model` text NOT NULL,
	`account_id` text NOT NULL,
	`runs` integer NOT NULL,
	`revenue` integer NOT NULL,
	`cost` integer NOT NULL,
	PRIMARY KEY(`day`, `model`, `account_id`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `run_costs` (
	`run_id` text PRIMARY KEY NOT NULL,
	`cost` integer NOT NULL
) STRICT;
