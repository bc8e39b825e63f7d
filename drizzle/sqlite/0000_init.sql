CREATE TABLE `account_settings` (
	`account_id` text PRIMARY KEY NOT NULL,
	`retention` text NOT NULL,
	`console_key_id` text,
	`keeps_responses` integer,
	`time_zone` text
) STRICT;
--> statement-breakpoint
CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`balance` integer NOT NULL,
	`held` integer NOT NULL,
	`status` text NOT NULL,
	`created_at` integer NOT NULL,
	`plan` text DEFAULT 'free' NOT NULL,
	`plan_until` integer,
	`moves` integer DEFAULT 0 NOT NULL,
	`moved_at` integer DEFAULT 0 NOT NULL,
	`low_balance` integer,
	`exhausted_at` integer,
	`tells_runs` integer DEFAULT false NOT NULL,
	`event_place` integer,
	`slot_move` text,
	`left_at` integer,
	`paid_in` integer,
	`free_day` integer,
	`free_writes` integer,
	`free_bytes` integer,
	`unpaid_runs` integer,
	CONSTRAINT "accounts_solvent" CHECK("accounts"."held" >= 0 and "accounts"."balance" >= "accounts"."held"),
	CONSTRAINT "accounts_bounded" CHECK("accounts"."balance" <= 9000000000000000)
) STRICT;
--> statement-breakpoint
CREATE INDEX `accounts_by_free_day` ON `accounts` (`free_day`) WHERE "accounts"."free_day" is not null;--> statement-breakpoint
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
CREATE INDEX `anchors_open` ON `anchors` (`id`) WHERE "anchors"."status" in ('pending', 'submitted', 'confirmed');--> statement-breakpoint
CREATE TABLE `audit_entries` (
	`id` text PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`actor` text NOT NULL,
	`action` text NOT NULL,
	`account_id` text NOT NULL,
	`subject` text NOT NULL,
	`detail` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `audit_entries_by_account` ON `audit_entries` (`account_id`,`id`);--> statement-breakpoint
CREATE TABLE `carried_windows` (
	`key_id` text NOT NULL,
	`window_start` integer NOT NULL,
	`amount` integer NOT NULL,
	PRIMARY KEY(`key_id`, `window_start`)
) STRICT;
--> statement-breakpoint
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
CREATE TABLE `cosignatures` (
	`issuer` text NOT NULL,
	`witness` text NOT NULL,
	`size` integer NOT NULL,
	`time` integer NOT NULL,
	`signature` blob NOT NULL,
	PRIMARY KEY(`issuer`, `witness`, `size`)
) STRICT;
--> statement-breakpoint
CREATE INDEX `cosignatures_by_size` ON `cosignatures` (`issuer`,`size`);--> statement-breakpoint
CREATE TABLE `deposits` (
	`id` text PRIMARY KEY NOT NULL,
	`chain_id` integer NOT NULL,
	`tx_hash` text NOT NULL,
	`log_index` integer NOT NULL,
	`ordinal` integer NOT NULL,
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
	`reversals` integer NOT NULL,
	`loss_nusd` integer NOT NULL,
	`moved_nusd` integer,
	CONSTRAINT "deposits_counted" CHECK("deposits"."credits" >= 0 and "deposits"."loss_nusd" >= 0)
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `deposits_by_transfer` ON `deposits` (`chain_id`,`tx_hash`,`token`,`from_address`,`token_amount`,`ordinal`);--> statement-breakpoint
CREATE INDEX `deposits_by_account` ON `deposits` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `deposits_by_block` ON `deposits` (`block_number`);--> statement-breakpoint
CREATE INDEX `deposits_open` ON `deposits` (`block_number`,`id`) WHERE "deposits"."status" in ('detected', 'confirming', 'credited');--> statement-breakpoint
CREATE TABLE `erased_receipts` (
	`receipt_id` text PRIMARY KEY NOT NULL,
	`receipt` text NOT NULL,
	`erased_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
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
CREATE TABLE `explorer_counts` (
	`grain` text NOT NULL,
	`at` integer NOT NULL,
	`receipts` integer NOT NULL,
	`succeeded` integer NOT NULL,
	PRIMARY KEY(`grain`, `at`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `explorer_models` (
	`grain` text NOT NULL,
	`at` integer NOT NULL,
	`model` text NOT NULL,
	`runs` integer NOT NULL,
	`cost` integer NOT NULL,
	`first_tokens` text NOT NULL,
	PRIMARY KEY(`grain`, `at`, `model`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `facts` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `first_tokens` (
	`account_id` text NOT NULL,
	`at` integer NOT NULL,
	`key_id` text NOT NULL,
	`model` text NOT NULL,
	`provider` text NOT NULL,
	`bar` integer NOT NULL,
	`runs` integer NOT NULL,
	PRIMARY KEY(`account_id`, `at`, `key_id`, `model`, `provider`, `bar`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `idempotent_calls` (
	`scope` text PRIMARY KEY NOT NULL,
	`fingerprint` text NOT NULL,
	`node` text NOT NULL,
	`run_id` text,
	`reply` blob,
	`created_at` integer NOT NULL,
	`until` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `idempotent_calls_by_end` ON `idempotent_calls` (`until`);--> statement-breakpoint
CREATE INDEX `idempotent_calls_by_run` ON `idempotent_calls` (`run_id`) WHERE "idempotent_calls"."run_id" is not null;--> statement-breakpoint
CREATE TABLE `invitations` (
	`id` text PRIMARY KEY NOT NULL,
	`token_hash` text NOT NULL,
	`account_id` text NOT NULL,
	`role` text NOT NULL,
	`cap_limit` integer,
	`cap_window` text,
	`models` text NOT NULL,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_by_token` ON `invitations` (`token_hash`);--> statement-breakpoint
CREATE INDEX `invitations_by_account` ON `invitations` (`account_id`,`id`);--> statement-breakpoint
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
CREATE TABLE `key_secrets` (
	`hash` text PRIMARY KEY NOT NULL,
	`key_id` text NOT NULL,
	`valid_until` integer,
	`self_rotated` integer NOT NULL
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE INDEX `key_secrets_by_key` ON `key_secrets` (`key_id`);--> statement-breakpoint
CREATE TABLE `key_windows` (
	`key_id` text NOT NULL,
	`window_start` integer NOT NULL,
	`limit_nusd` integer NOT NULL,
	`spent` integer NOT NULL,
	`held` integer NOT NULL,
	`told` integer,
	PRIMARY KEY(`key_id`, `window_start`),
	CONSTRAINT "key_windows_capped" CHECK("key_windows"."held" >= 0 and "key_windows"."spent" >= 0 and "key_windows"."spent" + "key_windows"."held" <= "key_windows"."limit_nusd")
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `keys` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`parent_id` text,
	`lineage` text NOT NULL,
	`branch` text,
	`name` text NOT NULL,
	`fingerprint` text NOT NULL,
	`secret_by` text NOT NULL,
	`cap_limit` integer NOT NULL,
	`cap_window` text NOT NULL,
	`rpm` integer,
	`concurrency` integer,
	`max_cost_per_run` integer,
	`fit` integer NOT NULL,
	`brake_minute` integer,
	`brake_hour` integer,
	`brake_running` text,
	`scopes` text NOT NULL,
	`models` text NOT NULL,
	`ip_cidrs` text NOT NULL,
	`tags` text NOT NULL,
	`passport` text NOT NULL,
	`children_count` integer NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`paused_at` integer,
	`paused_reason` text,
	`leak_answered_at` integer,
	`revoked_at` integer,
	`revoked_by` text,
	`last_used_at` integer,
	CONSTRAINT "keys_capped" CHECK("keys"."cap_limit" >= 1 and "keys"."cap_limit" <= 9000000000000000),
	CONSTRAINT "keys_expire" CHECK("keys"."expires_at" > "keys"."created_at")
) STRICT;
--> statement-breakpoint
CREATE INDEX `keys_by_account` ON `keys` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `keys_in_use` ON `keys` (`account_id`,`expires_at`) WHERE "keys"."revoked_at" is null;--> statement-breakpoint
CREATE INDEX `keys_by_end` ON `keys` (`expires_at`) WHERE "keys"."revoked_at" is null;--> statement-breakpoint
CREATE INDEX `keys_by_branch` ON `keys` (`branch`,`id`) WHERE "keys"."branch" is not null;--> statement-breakpoint
CREATE TABLE `leases` (
	`name` text PRIMARY KEY NOT NULL,
	`holder` text NOT NULL,
	`epoch` integer NOT NULL,
	`expires_at` integer NOT NULL
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE TABLE `liabilities` (
	`number` integer PRIMARY KEY NOT NULL,
	`statement` text NOT NULL,
	`digest` text NOT NULL,
	`signature` blob NOT NULL,
	`log_place` integer NOT NULL,
	`as_of` integer NOT NULL,
	`seed` blob
) STRICT;
--> statement-breakpoint
CREATE TABLE `liability_parts` (
	`number` integer NOT NULL,
	`part` integer NOT NULL,
	`bytes` blob NOT NULL,
	PRIMARY KEY(`number`, `part`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `log_checkpoints` (
	`issuer` text NOT NULL,
	`size` integer NOT NULL,
	`root` blob NOT NULL,
	`timestamp` integer NOT NULL,
	`signature` blob NOT NULL,
	PRIMARY KEY(`issuer`, `size`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `log_leaves` (
	`idx` integer PRIMARY KEY NOT NULL,
	`kind` integer NOT NULL,
	`hashes` blob NOT NULL,
	`run_id` text
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
CREATE TABLE `margin_days` (
	`day` integer NOT NULL,
	`model` text NOT NULL,
	`account_id` text NOT NULL,
	`runs` integer NOT NULL,
	`revenue` integer NOT NULL,
	`cost` integer NOT NULL,
	PRIMARY KEY(`day`, `model`, `account_id`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `members` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`wallet` text NOT NULL,
	`role` text NOT NULL,
	`name` text,
	`branch` text,
	`console_key_id` text,
	`invited_by` text NOT NULL,
	`created_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `members_once` ON `members` (`account_id`,`wallet`);--> statement-breakpoint
CREATE INDEX `members_by_wallet` ON `members` (`wallet`,`id`);--> statement-breakpoint
CREATE TABLE `open_runs` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`key_id` text NOT NULL,
	`node` text NOT NULL,
	`status` text NOT NULL,
	`kind` text NOT NULL,
	`model` text NOT NULL,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`hold` integer NOT NULL,
	`windows` text NOT NULL,
	`price_list` text NOT NULL,
	`discount_bps` integer NOT NULL,
	`tags` text NOT NULL,
	`metadata` text NOT NULL,
	`seed` blob NOT NULL,
	`input_commitment` blob NOT NULL,
	`passport` text NOT NULL,
	`background` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `operator_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`old_hash` text,
	`old_until` integer,
	`name` text NOT NULL,
	`scopes` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`revoked_at` integer,
	`last_used_at` integer
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `operator_tokens_by_hash` ON `operator_tokens` (`hash`);--> statement-breakpoint
CREATE INDEX `operator_tokens_by_old_hash` ON `operator_tokens` (`old_hash`);--> statement-breakpoint
CREATE TABLE `passport_models` (
	`handle` text NOT NULL,
	`model` text NOT NULL,
	`runs` integer NOT NULL,
	PRIMARY KEY(`handle`, `model`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `passport_statements` (
	`handle` text NOT NULL,
	`issuer` text NOT NULL,
	`as_of_size` integer NOT NULL,
	`record` text NOT NULL,
	`digest` blob NOT NULL,
	`signature` blob,
	`created_at` integer NOT NULL,
	`log_place` integer,
	PRIMARY KEY(`handle`, `issuer`, `as_of_size`)
) STRICT;
--> statement-breakpoint
CREATE INDEX `passport_statements_unlogged` ON `passport_statements` (`created_at`) WHERE "passport_statements"."log_place" is null;--> statement-breakpoint
CREATE TABLE `passports` (
	`handle` text PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`account_id` text NOT NULL,
	`display_name` text NOT NULL,
	`kind` text NOT NULL,
	`bio` text NOT NULL,
	`links` text NOT NULL,
	`status` text NOT NULL,
	`owner_shown` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`published_at` integer,
	`retired_at` integer,
	`runs` integer NOT NULL,
	`succeeded` integer NOT NULL,
	`spent` integer NOT NULL,
	`active_days` integer NOT NULL,
	`first_at` integer,
	`last_at` integer,
	`public_receipts` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `passports_by_id` ON `passports` (`id`);--> statement-breakpoint
CREATE INDEX `passports_by_account` ON `passports` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `passports_by_kind` ON `passports` (`kind`,`published_at`,`handle`) WHERE "passports"."status" = 'public';--> statement-breakpoint
CREATE INDEX `passports_newest` ON `passports` (`published_at`,`handle`) WHERE "passports"."status" = 'public';--> statement-breakpoint
CREATE INDEX `passports_busiest` ON `passports` (`runs`,`handle`) WHERE "passports"."status" = 'public';--> statement-breakpoint
CREATE INDEX `passports_by_handle` ON `passports` ("handle") WHERE "passports"."status" = 'public';--> statement-breakpoint
CREATE TABLE `price_lists` (
	`id` text NOT NULL,
	`version` integer NOT NULL,
	`digest` text NOT NULL,
	`content` text NOT NULL,
	`created_at` integer NOT NULL,
	`log_place` integer,
	PRIMARY KEY(`id`, `version`)
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
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
CREATE INDEX `quotes_by_end` ON `quotes` (`expires_at`);--> statement-breakpoint
CREATE INDEX `quotes_unused` ON `quotes` (`expires_at`) WHERE "quotes"."used" = 0;--> statement-breakpoint
CREATE TABLE `receipt_signatures` (
	`place` integer PRIMARY KEY NOT NULL,
	`signature` blob NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `run_costs` (
	`run_id` text PRIMARY KEY NOT NULL,
	`cost` integer NOT NULL
) STRICT;
--> statement-breakpoint
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
CREATE TABLE `runs` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`key_id` text NOT NULL,
	`node` text NOT NULL,
	`status` text NOT NULL,
	`kind` text NOT NULL,
	`model` text NOT NULL,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`hold` integer NOT NULL,
	`windows` text NOT NULL,
	`price_list` text NOT NULL,
	`discount_bps` integer NOT NULL,
	`tags` text NOT NULL,
	`metadata` text NOT NULL,
	`seed` blob NOT NULL,
	`input_commitment` blob NOT NULL,
	`passport` text NOT NULL,
	`background` integer NOT NULL,
	`route` text NOT NULL,
	`first_byte_at` integer,
	`finished_at` integer NOT NULL,
	`lines` text NOT NULL,
	`cost` integer NOT NULL,
	`usage_source` text NOT NULL,
	`clamped` integer NOT NULL,
	`outcome` text NOT NULL,
	`error` text,
	`duration_ms` integer NOT NULL,
	`output_commitment` blob,
	`issuer` text NOT NULL,
	`digest` blob NOT NULL,
	`output` text,
	`output_until` integer,
	`log_place` integer,
	`seq` integer,
	`moved_at` integer,
	`balance` integer,
	CONSTRAINT "runs_paid_within_hold" CHECK("runs"."cost" >= 0 and "runs"."cost" <= "runs"."hold")
) STRICT;
--> statement-breakpoint
CREATE INDEX `runs_by_key` ON `runs` (`key_id`,`id`);--> statement-breakpoint
CREATE INDEX `runs_by_account` ON `runs` (`account_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `runs_charged` ON `runs` (`account_id`,`moved_at`,`seq`) WHERE "runs"."seq" is not null;--> statement-breakpoint
CREATE INDEX `runs_kept` ON `runs` (`output_until`) WHERE "runs"."output_until" is not null;--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`token_hash` text NOT NULL,
	`account_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`user_agent` text NOT NULL,
	`client_address` text NOT NULL,
	`member_id` text
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_by_token` ON `sessions` (`token_hash`);--> statement-breakpoint
CREATE INDEX `sessions_by_account` ON `sessions` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `sessions_by_end` ON `sessions` (`expires_at`);--> statement-breakpoint
CREATE INDEX `sessions_by_member` ON `sessions` (`member_id`) WHERE "sessions"."member_id" is not null;--> statement-breakpoint
CREATE TABLE `shares` (
	`receipt_id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`visibility` text NOT NULL,
	`sections` text NOT NULL,
	`revealed` text NOT NULL,
	`digest` blob NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `shares_by_visibility` ON `shares` (`visibility`,`receipt_id`);--> statement-breakpoint
CREATE INDEX `shares_by_digest` ON `shares` (`digest`);--> statement-breakpoint
CREATE INDEX `shares_by_account` ON `shares` (`account_id`,`receipt_id`);--> statement-breakpoint
CREATE TABLE `sign_in_nonces` (
	`nonce` text PRIMARY KEY NOT NULL,
	`browser_hash` text NOT NULL,
	`account_id` text,
	`message` text,
	`issued_at` integer NOT NULL,
	`expires_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `sign_in_nonces_by_end` ON `sign_in_nonces` (`expires_at`);--> statement-breakpoint
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
CREATE TABLE `slot_move_rows` (
	`move` text NOT NULL,
	`place` integer NOT NULL,
	`kind` text NOT NULL,
	`row` text NOT NULL,
	PRIMARY KEY(`move`, `place`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `slot_moves` (
	`id` text PRIMARY KEY NOT NULL,
	`way` text NOT NULL,
	`peer` text NOT NULL,
	`slots` text NOT NULL,
	`state` text NOT NULL,
	`digest` text,
	`accounts` integer NOT NULL,
	`amount` integer NOT NULL,
	`begun_at` integer NOT NULL,
	`ended_at` integer
) STRICT;
--> statement-breakpoint
CREATE TABLE `slots` (
	`slot` integer PRIMARY KEY NOT NULL,
	`shard` text NOT NULL,
	`state` text NOT NULL,
	`move` text NOT NULL
) STRICT;
--> statement-breakpoint
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
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `subscriptions_live` ON `subscriptions` (`account_id`) WHERE "subscriptions"."status" in ('active', 'canceling');--> statement-breakpoint
CREATE INDEX `subscriptions_due` ON `subscriptions` (`period_end`) WHERE "subscriptions"."status" in ('active', 'canceling');--> statement-breakpoint
CREATE INDEX `subscriptions_by_account` ON `subscriptions` (`account_id`,`id`);--> statement-breakpoint
CREATE TABLE `terminal_allowances` (
	`day` integer NOT NULL,
	`client` text NOT NULL,
	`used` integer NOT NULL,
	PRIMARY KEY(`day`, `client`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `transfers` (
	`account_id` text NOT NULL,
	`ref` text NOT NULL,
	`kind` text NOT NULL,
	`source` text NOT NULL,
	`target` text NOT NULL,
	`amount` integer NOT NULL,
	`at` integer NOT NULL,
	`seq` integer NOT NULL,
	`balance` integer NOT NULL,
	PRIMARY KEY(`account_id`, `ref`, `kind`),
	CONSTRAINT "transfers_move" CHECK("transfers"."amount" > 0 and "transfers"."source" <> "transfers"."target")
) WITHOUT ROWID, STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `transfers_in_order` ON `transfers` (`account_id`,`at`,`seq`);--> statement-breakpoint
CREATE UNIQUE INDEX `transfers_credit_once` ON `transfers` (`ref`) WHERE "transfers"."kind" = 'deposit';--> statement-breakpoint
CREATE TABLE `unnumbered_batches` (
	`ended_at` integer NOT NULL,
	`id` text NOT NULL,
	`runs` text NOT NULL,
	PRIMARY KEY(`ended_at`, `id`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `upstream_evidence` (
	`run_id` text PRIMARY KEY NOT NULL,
	`upstream` text NOT NULL,
	`model` text NOT NULL,
	`scheme` text NOT NULL,
	`state` text NOT NULL,
	`reason` text,
	`request_hash` blob,
	`answer_hash` blob,
	`answer_id` text,
	`tries` integer NOT NULL,
	`ended_at` integer NOT NULL,
	`due_at` integer,
	`document` text,
	`key` text,
	`checked_at` integer,
	`salt` blob,
	`digest` blob,
	`log_place` integer
) STRICT;
--> statement-breakpoint
CREATE INDEX `upstream_evidence_due` ON `upstream_evidence` (`due_at`) WHERE "upstream_evidence"."due_at" is not null;--> statement-breakpoint
CREATE INDEX `upstream_evidence_by_place` ON `upstream_evidence` (`log_place`) WHERE "upstream_evidence"."log_place" is not null;--> statement-breakpoint
CREATE TABLE `usage_days` (
	`account_id` text NOT NULL,
	`day` integer NOT NULL,
	`key_id` text NOT NULL,
	`model` text NOT NULL,
	`runs` integer NOT NULL,
	`succeeded` integer NOT NULL,
	`input_units` integer NOT NULL,
	`output_units` integer NOT NULL,
	`cached_units` integer NOT NULL,
	`cache_write_units` integer NOT NULL,
	`reasoning_units` integer NOT NULL,
	`cost` integer NOT NULL,
	PRIMARY KEY(`account_id`, `day`, `key_id`, `model`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `usage_quarters` (
	`account_id` text NOT NULL,
	`at` integer NOT NULL,
	`key_id` text NOT NULL,
	`model` text NOT NULL,
	`provider` text NOT NULL,
	`runs` integer NOT NULL,
	`succeeded` integer NOT NULL,
	`input_units` integer NOT NULL,
	`output_units` integer NOT NULL,
	`cached_units` integer NOT NULL,
	`cache_write_units` integer NOT NULL,
	`reasoning_units` integer NOT NULL,
	`cost` integer NOT NULL,
	PRIMARY KEY(`account_id`, `at`, `key_id`, `model`, `provider`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `voucher_batches` (
	`id` text PRIMARY KEY NOT NULL,
	`amount` integer NOT NULL,
	`count` integer NOT NULL,
	`per_account` integer,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`revoked_at` integer,
	`redeemed` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `voucher_codes` (
	`hash` text PRIMARY KEY NOT NULL,
	`batch_id` text NOT NULL,
	`serial` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `voucher_codes_by_batch` ON `voucher_codes` (`batch_id`,`serial`);--> statement-breakpoint
CREATE TABLE `voucher_redemptions` (
	`hash` text PRIMARY KEY NOT NULL,
	`batch_id` text NOT NULL,
	`account_id` text NOT NULL,
	`at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `voucher_redemptions_by_account` ON `voucher_redemptions` (`batch_id`,`account_id`);--> statement-breakpoint
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
	`tries` text NOT NULL,
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
	`made_by` text,
	`failing_since` integer,
	`dropped` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `webhooks_by_account` ON `webhooks` (`account_id`,`id`);
--> statement-breakpoint
CREATE TRIGGER `transfers_never_change` BEFORE UPDATE ON `transfers` BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `transfers_never_vanish` BEFORE DELETE ON `transfers` BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `keys_stay_revoked` BEFORE UPDATE ON `keys` WHEN OLD.`revoked_at` IS NOT NULL AND NEW.`revoked_at` IS NOT OLD.`revoked_at` BEGIN SELECT RAISE(ABORT, 'a revocation is final'); END;
--> statement-breakpoint
CREATE TRIGGER `keys_stay_in_place` BEFORE UPDATE ON `keys` WHEN NEW.`account_id` IS NOT OLD.`account_id` OR NEW.`parent_id` IS NOT OLD.`parent_id` OR NEW.`lineage` IS NOT OLD.`lineage` BEGIN SELECT RAISE(ABORT, 'a key keeps its account and its parent'); END;
--> statement-breakpoint
CREATE TRIGGER `log_leaves_never_change` BEFORE UPDATE ON `log_leaves` BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `log_leaves_never_vanish` BEFORE DELETE ON `log_leaves` BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `log_checkpoints_never_change` BEFORE UPDATE ON `log_checkpoints` BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `log_checkpoints_never_vanish` BEFORE DELETE ON `log_checkpoints` BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
--> statement-breakpoint
CREATE VIEW `journal` AS SELECT account_id, ref, kind, source, target, amount, at, seq, balance FROM transfers UNION ALL SELECT account_id, id, CAST('run' AS text), CAST('user' AS text), CAST('revenue' AS text), cost, moved_at, seq, balance FROM runs WHERE seq IS NOT NULL;
--> statement-breakpoint
CREATE TRIGGER `runs_charge_never_changes` BEFORE UPDATE OF `id`, `account_id`, `cost`, `finished_at`, `seq`, `moved_at`, `balance` ON `runs` BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `runs_never_vanish` BEFORE DELETE ON `runs` BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
