CREATE TABLE `carried_windows` (
	`key_id` text NOT NULL,
	`window_start` integer NOT NULL,
	`amount` integer NOT NULL,
	PRIMARY KEY(`key_id`, `window_start`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `slot_move_rows` (
	`move` text NOT NULL,
	`place` integer NOT NULL,
	`kind` text NOT NULL,
	`row` text NOT NULL,
	PRIMARY KEY(`move`, `place`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `slot_moves` (
	`id` text PRIMARY KEY NOT NULL,
	`way` text NOT NULL,
	`peer` text NOT NULL,
	`slots` text NOT NULL,
	`state` text NOT NULL,
	`digest` text,
	`accounts` integer NOT NULL,
	`amount` integer NOT NULL,
	`begun_at` integer NOT NULL,
	`ended_at` integer
) STRICT;
--> statement-breakpoint
CREATE TABLE `slots` (
	`slot` integer PRIMARY KEY NOT NULL,
	`shard` text NOT NULL,
	`state` text NOT NULL,
	`move` text NOT NULL
) STRICT;
--> statement-breakpoint
ALTER TABLE `accounts` ADD `slot_move` text;--> statement-breakpoint
ALTER TABLE `accounts` ADD `left_at` integer;