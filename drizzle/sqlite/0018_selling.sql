CREATE TABLE `operator_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`old_hash` text,
	`old_until` integer,
	`name` text NOT NULL,
	`scopes` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`revoked_at` integer,
	`last_used_at` integer
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `operator_tokens_by_hash` ON `operator_tokens` (`hash`);--> statement-breakpoint
CREATE INDEX `operator_tokens_by_old_hash` ON `operator_tokens` (`old_hash`);--> statement-breakpoint
CREATE TABLE `voucher_batches` (
	`id` text PRIMARY KEY NOT NULL,
	`amount` integer NOT NULL,
	`count` integer NOT NULL,
	`per_account` integer,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`revoked_at` integer,
	`redeemed` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `voucher_codes` (
	`hash` text PRIMARY KEY NOT NULL,
	`batch_id` text NOT NULL,
	`serial` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `voucher_codes_by_batch` ON `voucher_codes` (`batch_id`,`serial`);--> statement-breakpoint
CREATE TABLE `voucher_redemptions` (
	`hash` text PRIMARY KEY NOT NULL,
	`batch_id` text NOT NULL,
	`account_id` text NOT NULL,
	`at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `voucher_redemptions_by_account` ON `voucher_redemptions` (`batch_id`,`account_id`);