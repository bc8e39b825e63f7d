CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`token_hash` text NOT NULL,
	`account_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`user_agent` text NOT NULL,
	`client_address` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_by_token` ON `sessions` (`token_hash`);--> statement-breakpoint
CREATE INDEX `sessions_by_account` ON `sessions` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `sessions_by_end` ON `sessions` (`expires_at`);--> statement-breakpoint
CREATE TABLE `sign_in_nonces` (
	`nonce` text PRIMARY KEY NOT NULL,
	`browser_hash` text NOT NULL,
	`account_id` text,
	`message` text,
	`issued_at` integer NOT NULL,
	`expires_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `sign_in_nonces_by_end` ON `sign_in_nonces` (`expires_at`);--> statement-breakpoint
CREATE TABLE `usage_days` (
	`account_id` text NOT NULL,
	`day` integer NOT NULL,
	`key_id` text NOT NULL,
	`model` text NOT NULL,
	`runs` integer NOT NULL,
	`succeeded` integer NOT NULL,
	`input_units` integer NOT NULL,
	`output_units` integer NOT NULL,
	`cost` integer NOT NULL,
	PRIMARY KEY(`account_id`, `day`, `key_id`, `model`)
) STRICT;
--> statement-breakpoint
ALTER TABLE `account_settings` ADD `console_key_id` text;--> statement-breakpoint
CREATE INDEX `key_secrets_by_key` ON `key_secrets` (`key_id`);
