ALTER TABLE `accounts` ADD `paid_in` integer;--> statement-breakpoint
ALTER TABLE `accounts` ADD `free_day` integer;--> statement-breakpoint
ALTER TABLE `accounts` ADD `free_writes` integer;--> statement-breakpoint
ALTER TABLE `accounts` ADD `free_bytes` integer;--> statement-breakpoint
CREATE INDEX `accounts_by_free_day` ON `accounts` (`free_day`) WHERE "accounts"."free_day" is not null;--> statement-breakpoint
CREATE INDEX `quotes_unused` ON `quotes` (`expires_at`) WHERE "quotes"."used" = 0;--> statement-breakpoint
UPDATE `accounts` SET `paid_in` = (SELECT sum(CASE WHEN `target` = 'user' THEN `amount` WHEN `kind` <> 'move' THEN -`amount` ELSE 0 END) FROM `transfers` WHERE `transfers`.`account_id` = `accounts`.`id` AND (`target` = 'user' OR `source` = 'user') AND `kind` IN ('deposit', 'reversal', 'claim', 'grant', 'voucher', 'move')) WHERE `moves` > 0;
