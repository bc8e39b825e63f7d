CREATE TABLE `open_runs` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`key_id` text NOT NULL,
	`node` text NOT NULL,
	`status` text NOT NULL,
	`kind` text NOT NULL,
	`model` text NOT NULL,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`hold` integer NOT NULL,
	`windows` text NOT NULL,
	`price_list` text NOT NULL,
	`discount_bps` integer NOT NULL,
	`tags` text NOT NULL,
	`metadata` text NOT NULL,
	`seed` blob NOT NULL,
	`input_commitment` blob NOT NULL,
	`passport` text NOT NULL,
	`background` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `receipt_signatures` (
	`place` integer PRIMARY KEY NOT NULL,
	`signature` blob NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `unnumbered_runs` (
	`id` text PRIMARY KEY NOT NULL,
	`finished_at` integer NOT NULL,
	`digest` blob NOT NULL
) STRICT;
--> statement-breakpoint
INSERT INTO `open_runs` (`id`, `account_id`, `key_id`, `node`, `status`, `kind`, `model`, `created_at`, `started_at`, `hold`, `windows`, `price_list`, `discount_bps`, `tags`, `metadata`, `seed`, `input_commitment`, `passport`, `background`) SELECT `id`, `account_id`, `key_id`, `node`, `status`, `kind`, `model`, `created_at`, `started_at`, `hold`, `windows`, `price_list`, `discount_bps`, `tags`, `metadata`, `seed`, `input_commitment`, `passport`, `background` FROM `runs` WHERE `finished_at` IS NULL;--> statement-breakpoint
DELETE FROM `runs` WHERE `finished_at` IS NULL;--> statement-breakpoint
INSERT INTO `unnumbered_runs` (`id`, `finished_at`, `digest`) SELECT `id`, `finished_at`, `digest` FROM `runs` WHERE `log_index` IS NULL AND `finished_at` IS NOT NULL;--> statement-breakpoint
DROP INDEX `runs_open`;--> statement-breakpoint
DROP INDEX `runs_unnumbered`;--> statement-breakpoint
ALTER TABLE `runs` ADD `place` integer;--> statement-breakpoint
ALTER TABLE `runs` ADD `seq` integer;--> statement-breakpoint
ALTER TABLE `runs` ADD `moved_at` integer;--> statement-breakpoint
ALTER TABLE `runs` ADD `balance` integer;--> statement-breakpoint
CREATE UNIQUE INDEX `runs_charged` ON `runs` (`account_id`,`moved_at`,`seq`) WHERE "runs"."seq" is not null;--> statement-breakpoint
ALTER TABLE `log_leaves` ADD `run_id` text;--> statement-breakpoint
CREATE VIEW `journal` AS SELECT account_id, ref, kind, source, target, amount, at, seq, balance FROM transfers UNION ALL SELECT account_id, id, CAST('run' AS text), CAST('user' AS text), CAST('revenue' AS text), cost, moved_at, seq, balance FROM runs WHERE seq IS NOT NULL;--> statement-breakpoint
CREATE TRIGGER `runs_charge_never_changes` BEFORE UPDATE OF `id`, `account_id`, `cost`, `finished_at`, `seq`, `moved_at`, `balance` ON `runs` BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;--> statement-breakpoint
CREATE TRIGGER `runs_never_vanish` BEFORE DELETE ON `runs` BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
