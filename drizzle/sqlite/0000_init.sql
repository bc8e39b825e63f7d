CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`balance` integer NOT NULL,
	`held` integer NOT NULL,
	`status` text NOT NULL,
	`created_at` integer NOT NULL,
	CONSTRAINT "accounts_solvent" CHECK("accounts"."held" >= 0 and "accounts"."balance" >= "accounts"."held"),
	CONSTRAINT "accounts_bounded" CHECK("accounts"."balance" <= 9000000000000000)
) STRICT;
--> statement-breakpoint
CREATE TABLE `audit_entries` (
	`id` text PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`actor` text NOT NULL,
	`action` text NOT NULL,
	`account_id` text NOT NULL,
	`subject` text NOT NULL,
	`detail` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `audit_entries_by_account` ON `audit_entries` (`account_id`,`id`);--> statement-breakpoint
CREATE TABLE `facts` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `key_secrets` (
	`hash` text PRIMARY KEY NOT NULL,
	`key_id` text NOT NULL,
	`valid_until` integer
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `key_windows` (
	`key_id` text NOT NULL,
	`window_start` integer NOT NULL,
	`limit_nusd` integer NOT NULL,
	`spent` integer NOT NULL,
	`held` integer NOT NULL,
	PRIMARY KEY(`key_id`, `window_start`),
	CONSTRAINT "key_windows_capped" CHECK("key_windows"."held" >= 0 and "key_windows"."spent" >= 0 and "key_windows"."spent" + "key_windows"."held" <= "key_windows"."limit_nusd")
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `keys` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`parent_id` text,
	`lineage` text NOT NULL,
	`name` text NOT NULL,
	`fingerprint` text NOT NULL,
	`cap_limit` integer NOT NULL,
	`cap_window` text NOT NULL,
	`rpm` integer,
	`concurrency` integer,
	`max_cost_per_run` integer,
	`scopes` text NOT NULL,
	`models` text NOT NULL,
	`ip_cidrs` text NOT NULL,
	`tags` text NOT NULL,
	`children_count` integer NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`paused_at` integer,
	`revoked_at` integer,
	`revoked_by` text,
	`last_used_at` integer,
	CONSTRAINT "keys_capped" CHECK("keys"."cap_limit" >= 1 and "keys"."cap_limit" <= 9000000000000000),
	CONSTRAINT "keys_expire" CHECK("keys"."expires_at" > "keys"."created_at")
) STRICT;
--> statement-breakpoint
CREATE INDEX `keys_by_account` ON `keys` (`account_id`,`id`);--> statement-breakpoint
CREATE TABLE `leases` (
	`name` text PRIMARY KEY NOT NULL,
	`holder` text NOT NULL,
	`epoch` integer NOT NULL,
	`expires_at` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `price_lists` (
	`id` text NOT NULL,
	`version` integer NOT NULL,
	`digest` text NOT NULL,
	`content` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`id`, `version`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `runs` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`key_id` text NOT NULL,
	`node` text NOT NULL,
	`status` text NOT NULL,
	`kind` text NOT NULL,
	`model` text NOT NULL,
	`route` text NOT NULL,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`first_byte_at` integer,
	`finished_at` integer,
	`hold` integer NOT NULL,
	`windows` text NOT NULL,
	`price_list` text NOT NULL,
	`lines` text NOT NULL,
	`cost` integer NOT NULL,
	`discount_bps` integer NOT NULL,
	`usage_source` text,
	`clamped` integer NOT NULL,
	`outcome` text,
	`error` text,
	`tags` text NOT NULL,
	`metadata` text NOT NULL,
	`duration_ms` integer,
	`seed` blob NOT NULL,
	`input_commitment` blob NOT NULL,
	`output_commitment` blob,
	`issuer` text NOT NULL,
	`passport` text NOT NULL,
	`digest` blob,
	`log_index` integer,
	`signature` blob,
	`background` integer NOT NULL,
	`output` text,
	`output_until` integer,
	CONSTRAINT "runs_paid_within_hold" CHECK("runs"."cost" >= 0 and "runs"."cost" <= "runs"."hold")
) STRICT;
--> statement-breakpoint
CREATE INDEX `runs_by_key` ON `runs` (`key_id`,`id`);--> statement-breakpoint
CREATE INDEX `runs_open` ON `runs` (`node`) WHERE "runs"."finished_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX `runs_by_log_index` ON `runs` (`log_index`) WHERE "runs"."log_index" is not null;--> statement-breakpoint
CREATE INDEX `runs_unnumbered` ON `runs` (`finished_at`) WHERE "runs"."log_index" is null and "runs"."finished_at" is not null;--> statement-breakpoint
CREATE INDEX `runs_kept` ON `runs` (`output_until`) WHERE "runs"."output_until" is not null;--> statement-breakpoint
CREATE TABLE `transfers` (
	`account_id` text NOT NULL,
	`ref` text NOT NULL,
	`kind` text NOT NULL,
	`source` text NOT NULL,
	`target` text NOT NULL,
	`amount` integer NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `ref`, `kind`),
	CONSTRAINT "transfers_move" CHECK("transfers"."amount" > 0 and "transfers"."source" <> "transfers"."target")
) STRICT, WITHOUT ROWID;--> statement-breakpoint
CREATE TRIGGER `transfers_never_change` BEFORE UPDATE ON `transfers` BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;--> statement-breakpoint
CREATE TRIGGER `transfers_never_vanish` BEFORE DELETE ON `transfers` BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;--> statement-breakpoint
CREATE TRIGGER `keys_stay_revoked` BEFORE UPDATE ON `keys` WHEN OLD.`revoked_at` IS NOT NULL AND NEW.`revoked_at` IS NOT OLD.`revoked_at` BEGIN SELECT RAISE(ABORT, 'a revocation is final'); END;--> statement-breakpoint
CREATE TRIGGER `keys_stay_in_place` BEFORE UPDATE ON `keys` WHEN NEW.`account_id` IS NOT OLD.`account_id` OR NEW.`parent_id` IS NOT OLD.`parent_id` OR NEW.`lineage` IS NOT OLD.`lineage` BEGIN SELECT RAISE(ABORT, 'a key keeps its account and its parent'); END;
