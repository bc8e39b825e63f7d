CREATE TABLE `explorer_counts` (
	`grain` text NOT NULL,
	`at` integer NOT NULL,
	`receipts` integer NOT NULL,
	`succeeded` integer NOT NULL,
	PRIMARY KEY(`grain`, `at`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `explorer_models` (
	`grain` text NOT NULL,
	`at` integer NOT NULL,
	`model` text NOT NULL,
	`runs` integer NOT NULL,
	`cost` integer NOT NULL,
	`first_tokens` text NOT NULL,
	PRIMARY KEY(`grain`, `at`, `model`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `idempotent_calls` (
	`scope` text PRIMARY KEY NOT NULL,
	`fingerprint` text NOT NULL,
	`node` text NOT NULL,
	`run_id` text,
	`reply` blob,
	`created_at` integer NOT NULL,
	`until` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `idempotent_calls_by_end` ON `idempotent_calls` (`until`);--> statement-breakpoint
CREATE INDEX `idempotent_calls_by_run` ON `idempotent_calls` (`run_id`) WHERE "idempotent_calls"."run_id" is not null;--> statement-breakpoint
CREATE TABLE `passport_models` (
	`handle` text NOT NULL,
	`model` text NOT NULL,
	`runs` integer NOT NULL,
	PRIMARY KEY(`handle`, `model`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `passport_statements` (
	`handle` text NOT NULL,
	`issuer` text NOT NULL,
	`as_of_size` integer NOT NULL,
	`record` text NOT NULL,
	`digest` blob NOT NULL,
	`signature` blob,
	`created_at` integer NOT NULL,
	`log_place` integer,
	PRIMARY KEY(`handle`, `issuer`, `as_of_size`)
) STRICT;
--> statement-breakpoint
CREATE INDEX `passport_statements_unlogged` ON `passport_statements` (`created_at`) WHERE "passport_statements"."log_place" is null;--> statement-breakpoint
CREATE TABLE `passports` (
	`handle` text PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`account_id` text NOT NULL,
	`display_name` text NOT NULL,
	`kind` text NOT NULL,
	`bio` text NOT NULL,
	`links` text NOT NULL,
	`status` text NOT NULL,
	`owner_shown` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`published_at` integer,
	`retired_at` integer,
	`runs` integer NOT NULL,
	`succeeded` integer NOT NULL,
	`spent` integer NOT NULL,
	`active_days` integer NOT NULL,
	`first_at` integer,
	`last_at` integer,
	`public_receipts` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `passports_by_id` ON `passports` (`id`);--> statement-breakpoint
CREATE INDEX `passports_by_account` ON `passports` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `passports_by_kind` ON `passports` (`kind`,`published_at`,`handle`) WHERE "passports"."status" = 'public';--> statement-breakpoint
CREATE INDEX `passports_newest` ON `passports` (`published_at`,`handle`) WHERE "passports"."status" = 'public';--> statement-breakpoint
CREATE INDEX `passports_busiest` ON `passports` (`runs`,`handle`) WHERE "passports"."status" = 'public';--> statement-breakpoint
CREATE TABLE `terminal_allowances` (
	`day` integer NOT NULL,
	`client` text NOT NULL,
	`used` integer NOT NULL,
	PRIMARY KEY(`day`, `client`)
) STRICT;
--> statement-breakpoint
ALTER TABLE `keys` ADD `passport` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `shares` ADD `digest` blob;--> statement-breakpoint
CREATE INDEX `shares_by_digest` ON `shares` (`digest`);