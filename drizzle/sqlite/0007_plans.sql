CREATE TABLE `subscriptions` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`plan` text NOT NULL,
	`status` text NOT NULL,
	`price` integer NOT NULL,
	`started_at` integer NOT NULL,
	`period_start` integer NOT NULL,
	`period_end` integer,
	`next_plan` text,
	`ended_at` integer,
	CONSTRAINT "subscriptions_priced" CHECK("subscriptions"."price" >= 0),
	CONSTRAINT "subscriptions_last" CHECK("subscriptions"."period_end" is null or "subscriptions"."period_end" > "subscriptions"."period_start")
) STRICT;--> statement-breakpoint
CREATE UNIQUE INDEX `subscriptions_live` ON `subscriptions` (`account_id`) WHERE "subscriptions"."status" in ('active', 'canceling');--> statement-breakpoint
CREATE INDEX `subscriptions_due` ON `subscriptions` (`period_end`) WHERE "subscriptions"."status" in ('active', 'canceling');--> statement-breakpoint
CREATE INDEX `subscriptions_by_account` ON `subscriptions` (`account_id`,`id`);--> statement-breakpoint
ALTER TABLE `accounts` ADD `plan` text DEFAULT 'free' NOT NULL;--> statement-breakpoint
ALTER TABLE `accounts` ADD `plan_until` integer;--> statement-breakpoint
ALTER TABLE `accounts` ADD `moves` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `accounts` ADD `moved_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `transfers` ADD `seq` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `transfers` ADD `balance` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
DROP TRIGGER `transfers_never_change`;--> statement-breakpoint
UPDATE `transfers` SET `seq` = numbered.n, `balance` = numbered.b FROM (SELECT account_id, ref, kind, row_number() OVER w AS n, sum(CASE WHEN target = 'user' THEN amount WHEN source = 'user' THEN -amount ELSE 0 END) OVER w AS b FROM transfers WINDOW w AS (PARTITION BY account_id ORDER BY at, ref, kind)) AS numbered WHERE transfers.account_id = numbered.account_id AND transfers.ref = numbered.ref AND transfers.kind = numbered.kind;--> statement-breakpoint
CREATE TRIGGER `transfers_never_change` BEFORE UPDATE ON `transfers` BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;--> statement-breakpoint
UPDATE `accounts` SET `moves` = (SELECT count(*) FROM transfers WHERE account_id = accounts.id), `moved_at` = (SELECT coalesce(max(at), 0) FROM transfers WHERE account_id = accounts.id);--> statement-breakpoint
CREATE UNIQUE INDEX `transfers_in_order` ON `transfers` (`account_id`,`at`,`seq`);--> statement-breakpoint
CREATE INDEX `transfers_beside_runs` ON `transfers` (`account_id`,`at`,`seq`) WHERE "transfers"."kind" <> 'run';
