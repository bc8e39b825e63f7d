CREATE TABLE `liabilities` (
	`number` integer PRIMARY KEY NOT NULL,
	`statement` text NOT NULL,
	`digest` text NOT NULL,
	`signature` blob NOT NULL,
	`log_place` integer NOT NULL,
	`as_of` integer NOT NULL,
	`seed` blob
) STRICT;
--> statement-breakpoint
CREATE TABLE `liability_parts` (
	`number` integer NOT NULL,
	`part` integer NOT NULL,
	`bytes` blob NOT NULL,
	PRIMARY KEY(`number`, `part`)
) STRICT;
