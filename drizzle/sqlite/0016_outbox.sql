CREATE TABLE `events` (
	`id` text PRIMARY KEY NOT NULL,
	`type` text NOT NULL,
	`account_id` text NOT NULL,
	`subject` text NOT NULL,
	`place` integer NOT NULL,
	`at` integer NOT NULL,
	`data` text NOT NULL,
	`routed_at` integer
) STRICT;
--> statement-breakpoint
CREATE INDEX `events_by_routing` ON `events` (`routed_at`,`place`);--> statement-breakpoint
CREATE TABLE `webhook_deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`webhook_id` text NOT NULL,
	`event_id` text NOT NULL,
	`type` text NOT NULL,
	`subject` text NOT NULL,
	`place` integer NOT NULL,
	`status` text NOT NULL,
	`attempts` integer NOT NULL,
	`since` integer NOT NULL,
	`next_at` integer,
	`tried_at` integer,
	`http_status` integer,
	`duration_ms` integer,
	`error` text,
	`done_at` integer
) STRICT;
--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_webhook` ON `webhook_deliveries` (`webhook_id`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_event` ON `webhook_deliveries` (`event_id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_due` ON `webhook_deliveries` (`next_at`) WHERE "webhook_deliveries"."status" = 'pending';--> statement-breakpoint
CREATE INDEX `webhook_deliveries_in_order` ON `webhook_deliveries` (`webhook_id`,`subject`,`place`) WHERE "webhook_deliveries"."status" = 'pending';--> statement-breakpoint
CREATE INDEX `webhook_deliveries_done` ON `webhook_deliveries` (`done_at`) WHERE "webhook_deliveries"."done_at" is not null;--> statement-breakpoint
CREATE TABLE `webhooks` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`url` text NOT NULL,
	`events` text NOT NULL,
	`description` text NOT NULL,
	`format` text NOT NULL,
	`secret` blob,
	`old_secret` blob,
	`old_until` integer,
	`created_at` integer NOT NULL,
	`disabled_at` integer,
	`disabled_reason` text,
	`failing_since` integer,
	`dropped` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `webhooks_by_account` ON `webhooks` (`account_id`,`id`);--> statement-breakpoint
ALTER TABLE `accounts` ADD `low_balance` integer;--> statement-breakpoint
ALTER TABLE `accounts` ADD `exhausted_at` integer;--> statement-breakpoint
ALTER TABLE `accounts` ADD `tells_runs` integer;--> statement-breakpoint
ALTER TABLE `accounts` ADD `event_place` integer;--> statement-breakpoint
ALTER TABLE `key_windows` ADD `told` integer;--> statement-breakpoint
CREATE INDEX `keys_by_end` ON `keys` (`expires_at`) WHERE "keys"."revoked_at" is null;