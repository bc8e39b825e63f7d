CREATE TABLE `quotes` (
	`digest` text PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`account_id` text NOT NULL,
	`key_id` text NOT NULL,
	`quote` text NOT NULL,
	`signature` blob NOT NULL,
	`uses` integer NOT NULL,
	`used` integer NOT NULL,
	`expires_at` integer NOT NULL,
	CONSTRAINT "quotes_used" CHECK("quotes"."used" >= 0 and "quotes"."used" <= "quotes"."uses")
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `quotes_by_id` ON `quotes` (`id`);--> statement-breakpoint
CREATE INDEX `quotes_by_account` ON `quotes` (`account_id`,`expires_at`);--> statement-breakpoint
CREATE INDEX `quotes_by_end` ON `quotes` (`expires_at`);