ALTER TABLE `usage_days` ADD `cached_units` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `usage_days` ADD `cache_write_units` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `usage_days` ADD `reasoning_units` integer DEFAULT 0 NOT NULL;