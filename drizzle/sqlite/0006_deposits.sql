CREATE TABLE `deposits` (
	`id` text PRIMARY KEY NOT NULL,
	`chain_id` integer NOT NULL,
	`tx_hash` text NOT NULL,
	`log_index` integer NOT NULL,
	`block_number` integer NOT NULL,
	`block_hash` text NOT NULL,
	`block_time` integer,
	`token` text NOT NULL,
	`token_amount` text NOT NULL,
	`amount_nusd` integer,
	`from_address` text NOT NULL,
	`account_id` text NOT NULL,
	`status` text NOT NULL,
	`reason` text,
	`seen_at` integer NOT NULL,
	`credited_at` integer,
	`finalized_at` integer,
	`credits` integer NOT NULL,
	`loss_nusd` integer NOT NULL,
	`moved_nusd` integer,
	CONSTRAINT "deposits_counted" CHECK("deposits"."credits" >= 0 and "deposits"."loss_nusd" >= 0)
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `deposits_by_log` ON `deposits` (`chain_id`,`tx_hash`,`log_index`);--> statement-breakpoint
CREATE INDEX `deposits_by_account` ON `deposits` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `deposits_by_block` ON `deposits` (`block_number`);--> statement-breakpoint
CREATE INDEX `deposits_open` ON `deposits` (`block_number`,`id`) WHERE "deposits"."status" in ('detected', 'confirming', 'credited');