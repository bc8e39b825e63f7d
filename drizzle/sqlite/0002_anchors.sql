CREATE TABLE `account_settings` (
	`account_id` text PRIMARY KEY NOT NULL,
	`retention` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `anchors` (
	`id` text PRIMARY KEY NOT NULL,
	`issuer` text NOT NULL,
	`size` integer NOT NULL,
	`prev_size` integer NOT NULL,
	`root` blob NOT NULL,
	`status` text NOT NULL,
	`created_at` integer NOT NULL,
	`nonce` integer,
	`submitted_at` integer,
	`tx_hash` text,
	`block_number` integer,
	`block_hash` text,
	`block_time` integer,
	`finalized_at` integer,
	`error` text
) STRICT;
--> statement-breakpoint
CREATE INDEX `anchors_by_size` ON `anchors` (`issuer`,`size`);--> statement-breakpoint
CREATE TABLE `chain_txs` (
	`hash` text PRIMARY KEY NOT NULL,
	`sender` text NOT NULL,
	`nonce` integer NOT NULL,
	`purpose` text NOT NULL,
	`subject` text NOT NULL,
	`raw` text NOT NULL,
	`gas` integer NOT NULL,
	`max_fee_wei` text NOT NULL,
	`priority_fee_wei` text NOT NULL,
	`created_at` integer NOT NULL,
	`sent_at` integer
) STRICT;
--> statement-breakpoint
CREATE INDEX `chain_txs_by_subject` ON `chain_txs` (`purpose`,`subject`);--> statement-breakpoint
CREATE INDEX `chain_txs_by_nonce` ON `chain_txs` (`sender`,`nonce`);--> statement-breakpoint
CREATE TABLE `erased_receipts` (
	`receipt_id` text PRIMARY KEY NOT NULL,
	`receipt` text NOT NULL,
	`erased_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `logs` (
	`number` integer PRIMARY KEY NOT NULL,
	`origin` text NOT NULL,
	`start` integer NOT NULL,
	`opened_at` integer NOT NULL,
	`reason` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `logs_by_origin` ON `logs` (`origin`);--> statement-breakpoint
CREATE TABLE `run_texts` (
	`run_id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`input` text NOT NULL,
	`output` text,
	`until` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `run_texts_by_end` ON `run_texts` (`until`);--> statement-breakpoint
CREATE INDEX `run_texts_by_account` ON `run_texts` (`account_id`);--> statement-breakpoint
CREATE TABLE `shares` (
	`receipt_id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`visibility` text NOT NULL,
	`sections` text NOT NULL,
	`revealed` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `shares_by_visibility` ON `shares` (`visibility`,`receipt_id`);--> statement-breakpoint
CREATE INDEX `shares_by_account` ON `shares` (`account_id`,`receipt_id`);--> statement-breakpoint
CREATE TABLE `signers` (
	`issuer` text NOT NULL,
	`address` text NOT NULL,
	`public_key` text NOT NULL,
	`from_index` integer NOT NULL,
	`until_index` integer,
	`added_at` integer NOT NULL,
	`previous` text,
	`reason` text NOT NULL,
	`signature` blob,
	`log_place` integer,
	PRIMARY KEY(`issuer`, `address`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `__new_log_checkpoints` (
	`issuer` text NOT NULL,
	`size` integer NOT NULL,
	`root` blob NOT NULL,
	`timestamp` integer NOT NULL,
	`signature` blob NOT NULL,
	PRIMARY KEY(`issuer`, `size`)
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_log_checkpoints`("issuer", "size", "root", "timestamp", "signature") SELECT "issuer", "size", "root", "timestamp", "signature" FROM `log_checkpoints`;--> statement-breakpoint
DROP TABLE `log_checkpoints`;--> statement-breakpoint
ALTER TABLE `__new_log_checkpoints` RENAME TO `log_checkpoints`;--> statement-breakpoint
ALTER TABLE `price_lists` ADD `log_place` integer;--> statement-breakpoint
CREATE TRIGGER `log_checkpoints_never_change` BEFORE UPDATE ON `log_checkpoints` BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;--> statement-breakpoint
CREATE TRIGGER `log_checkpoints_never_vanish` BEFORE DELETE ON `log_checkpoints` BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;--> statement-breakpoint
-- The log that was there before logs had a page of their own.
INSERT INTO `logs` (`number`, `origin`, `start`, `opened_at`, `reason`) SELECT 1, `value`, 0, 0, '' FROM `facts` WHERE `name` = 'log.origin';
