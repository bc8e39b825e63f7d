ALTER TABLE `key_secrets` ADD `self_rotated` integer;--> statement-breakpoint
ALTER TABLE `keys` ADD `secret_by` text;--> statement-breakpoint
ALTER TABLE `keys` ADD `leak_answered_at` integer;--> statement-breakpoint
ALTER TABLE `webhooks` ADD `made_by` text;