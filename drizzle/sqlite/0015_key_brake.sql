ALTER TABLE `keys` ADD `brake_minute` integer;--> statement-breakpoint
ALTER TABLE `keys` ADD `brake_hour` integer;--> statement-breakpoint
ALTER TABLE `keys` ADD `brake_running` text;--> statement-breakpoint
ALTER TABLE `keys` ADD `paused_reason` text;