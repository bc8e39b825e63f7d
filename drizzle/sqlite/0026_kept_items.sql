CREATE TABLE `kept_items` (
	`account_id` text NOT NULL,
	`id` text NOT NULL,
	`run_id` text NOT NULL,
	`keys` text NOT NULL,
	`sealed` blob NOT NULL,
	`bytes` integer NOT NULL,
	`until` integer NOT NULL,
	PRIMARY KEY(`account_id`, `id`, `run_id`)
) STRICT;
--> statement-breakpoint
CREATE INDEX `kept_items_by_run` ON `kept_items` (`run_id`);--> statement-breakpoint
CREATE INDEX `kept_items_by_end` ON `kept_items` (`until`);--> statement-breakpoint
CREATE INDEX `kept_items_by_account` ON `kept_items` (`account_id`,`until`,`run_id`,`bytes`);--> statement-breakpoint
ALTER TABLE `account_settings` ADD `keeps_responses` integer;--> statement-breakpoint
UPDATE `account_settings` SET `keeps_responses` = 0 WHERE `retention` = 'none' AND EXISTS (SELECT 1 FROM `audit_entries` WHERE `audit_entries`.`account_id` = `account_settings`.`account_id` AND `audit_entries`.`action` = 'retention.set');
