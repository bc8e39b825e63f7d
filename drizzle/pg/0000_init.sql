CREATE TABLE "account_settings" (
	"account_id" text PRIMARY KEY NOT NULL,
	"retention" text NOT NULL,
	"console_key_id" text,
	"keeps_responses" boolean,
	"time_zone" text
);
--> statement-breakpoint
CREATE TABLE "accounts" (
	"id" text PRIMARY KEY NOT NULL,
	"balance" bigint NOT NULL,
	"held" bigint NOT NULL,
	"status" text NOT NULL,
	"created_at" bigint NOT NULL,
	"plan" text DEFAULT 'free' NOT NULL,
	"plan_until" bigint,
	"moves" bigint DEFAULT 0 NOT NULL,
	"moved_at" bigint DEFAULT 0 NOT NULL,
	"low_balance" bigint,
	"exhausted_at" bigint,
	"tells_runs" boolean DEFAULT false NOT NULL,
	"event_place" bigint,
	"slot_move" text,
	"left_at" bigint,
	"paid_in" bigint,
	"free_day" bigint,
	"free_writes" bigint,
	"free_bytes" bigint,
	"unpaid_runs" bigint,
	CONSTRAINT "accounts_left" CHECK ("accounts"."left_at" is null or ("accounts"."balance" = 0 and "accounts"."held" = 0)),
	CONSTRAINT "accounts_solvent" CHECK ("accounts"."held" >= 0 and "accounts"."balance" >= "accounts"."held"),
	CONSTRAINT "accounts_bounded" CHECK ("accounts"."balance" <= 9000000000000000)
);
--> statement-breakpoint
CREATE TABLE "anchors" (
	"id" text PRIMARY KEY NOT NULL,
	"issuer" text NOT NULL,
	"size" bigint NOT NULL,
	"prev_size" bigint NOT NULL,
	"root" "bytea" NOT NULL,
	"status" text NOT NULL,
	"created_at" bigint NOT NULL,
	"nonce" bigint,
	"submitted_at" bigint,
	"tx_hash" text,
	"block_number" bigint,
	"block_hash" text,
	"block_time" bigint,
	"finalized_at" bigint,
	"error" text
);
--> statement-breakpoint
CREATE TABLE "audit_entries" (
	"id" text PRIMARY KEY NOT NULL,
	"at" bigint NOT NULL,
	"actor" text NOT NULL,
	"action" text NOT NULL,
	"account_id" text NOT NULL,
	"subject" text NOT NULL,
	"detail" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "carried_windows" (
	"key_id" text NOT NULL,
	"window_start" bigint NOT NULL,
	"amount" bigint NOT NULL,
	CONSTRAINT "carried_windows_key_id_window_start_pk" PRIMARY KEY("key_id","window_start")
);
--> statement-breakpoint
CREATE TABLE "chain_txs" (
	"hash" text PRIMARY KEY NOT NULL,
	"sender" text NOT NULL,
	"nonce" bigint NOT NULL,
	"purpose" text NOT NULL,
	"subject" text NOT NULL,
	"raw" text NOT NULL,
	"gas" bigint NOT NULL,
	"max_fee_wei" text NOT NULL,
	"priority_fee_wei" text NOT NULL,
	"created_at" bigint NOT NULL,
	"sent_at" bigint
);
--> statement-breakpoint
CREATE TABLE "cosignatures" (
	"issuer" text NOT NULL,
	"witness" text NOT NULL,
	"size" bigint NOT NULL,
	"time" bigint NOT NULL,
	"signature" "bytea" NOT NULL,
	CONSTRAINT "cosignatures_issuer_witness_size_pk" PRIMARY KEY("issuer","witness","size")
);
--> statement-breakpoint
CREATE TABLE "deposits" (
	"id" text PRIMARY KEY NOT NULL,
	"chain_id" integer NOT NULL,
	"tx_hash" text NOT NULL,
	"log_index" integer NOT NULL,
	"ordinal" integer NOT NULL,
	"block_number" bigint NOT NULL,
	"block_hash" text NOT NULL,
	"block_time" bigint,
	"token" text NOT NULL,
	"token_amount" text NOT NULL,
	"amount_nusd" bigint,
	"from_address" text NOT NULL,
	"account_id" text NOT NULL,
	"status" text NOT NULL,
	"reason" text,
	"seen_at" bigint NOT NULL,
	"credited_at" bigint,
	"finalized_at" bigint,
	"credits" integer NOT NULL,
	"reversals" integer NOT NULL,
	"loss_nusd" bigint NOT NULL,
	"moved_nusd" bigint,
	CONSTRAINT "deposits_counted" CHECK ("deposits"."credits" >= 0 and "deposits"."loss_nusd" >= 0)
);
--> statement-breakpoint
CREATE TABLE "erased_receipts" (
	"receipt_id" text PRIMARY KEY NOT NULL,
	"receipt" text NOT NULL,
	"erased_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "events" (
	"id" text PRIMARY KEY NOT NULL,
	"type" text NOT NULL,
	"account_id" text NOT NULL,
	"subject" text NOT NULL,
	"place" bigint NOT NULL,
	"at" bigint NOT NULL,
	"data" text NOT NULL,
	"routed_at" bigint
);
--> statement-breakpoint
CREATE TABLE "explorer_counts" (
	"grain" text NOT NULL,
	"at" bigint NOT NULL,
	"receipts" bigint NOT NULL,
	"succeeded" bigint NOT NULL,
	CONSTRAINT "explorer_counts_grain_at_pk" PRIMARY KEY("grain","at")
);
--> statement-breakpoint
CREATE TABLE "explorer_models" (
	"grain" text NOT NULL,
	"at" bigint NOT NULL,
	"model" text NOT NULL,
	"runs" bigint NOT NULL,
	"cost" bigint NOT NULL,
	"first_tokens" text NOT NULL,
	CONSTRAINT "explorer_models_grain_at_model_pk" PRIMARY KEY("grain","at","model")
);
--> statement-breakpoint
CREATE TABLE "facts" (
	"name" text PRIMARY KEY NOT NULL,
	"value" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "first_tokens" (
	"account_id" text NOT NULL,
	"at" bigint NOT NULL,
	"key_id" text NOT NULL,
	"model" text NOT NULL,
	"provider" text NOT NULL,
	"bar" integer NOT NULL,
	"runs" integer NOT NULL,
	CONSTRAINT "first_tokens_account_id_at_key_id_model_provider_bar_pk" PRIMARY KEY("account_id","at","key_id","model","provider","bar")
);
--> statement-breakpoint
CREATE TABLE "idempotent_calls" (
	"scope" text PRIMARY KEY NOT NULL,
	"fingerprint" text NOT NULL,
	"node" text NOT NULL,
	"run_id" text,
	"reply" "bytea",
	"created_at" bigint NOT NULL,
	"until" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "invitations" (
	"id" text PRIMARY KEY NOT NULL,
	"token_hash" text NOT NULL,
	"account_id" text NOT NULL,
	"role" text NOT NULL,
	"cap_limit" bigint,
	"cap_window" text,
	"models" text NOT NULL,
	"created_by" text NOT NULL,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "kept_items" (
	"account_id" text NOT NULL,
	"id" text NOT NULL,
	"run_id" text NOT NULL,
	"keys" text NOT NULL,
	"sealed" "bytea" NOT NULL,
	"bytes" integer NOT NULL,
	"until" bigint NOT NULL,
	CONSTRAINT "kept_items_account_id_id_run_id_pk" PRIMARY KEY("account_id","id","run_id")
);
--> statement-breakpoint
CREATE TABLE "key_secrets" (
	"hash" text PRIMARY KEY NOT NULL,
	"key_id" text NOT NULL,
	"valid_until" bigint,
	"self_rotated" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "key_windows" (
	"key_id" text NOT NULL,
	"window_start" bigint NOT NULL,
	"limit_nusd" bigint NOT NULL,
	"spent" bigint NOT NULL,
	"held" bigint NOT NULL,
	"told" integer,
	CONSTRAINT "key_windows_key_id_window_start_pk" PRIMARY KEY("key_id","window_start"),
	CONSTRAINT "key_windows_capped" CHECK ("key_windows"."held" >= 0 and "key_windows"."spent" >= 0 and "key_windows"."spent" + "key_windows"."held" <= "key_windows"."limit_nusd")
);
--> statement-breakpoint
CREATE TABLE "keys" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"parent_id" text,
	"lineage" text NOT NULL,
	"branch" text,
	"name" text NOT NULL,
	"fingerprint" text NOT NULL,
	"secret_by" text NOT NULL,
	"cap_limit" bigint NOT NULL,
	"cap_window" text NOT NULL,
	"rpm" integer,
	"concurrency" integer,
	"max_cost_per_run" bigint,
	"fit" boolean NOT NULL,
	"brake_minute" bigint,
	"brake_hour" bigint,
	"brake_running" text,
	"scopes" text NOT NULL,
	"models" text NOT NULL,
	"ip_cidrs" text NOT NULL,
	"tags" text NOT NULL,
	"passport" text NOT NULL,
	"children_count" integer NOT NULL,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"paused_at" bigint,
	"paused_reason" text,
	"leak_answered_at" bigint,
	"revoked_at" bigint,
	"revoked_by" text,
	"last_used_at" bigint,
	CONSTRAINT "keys_capped" CHECK ("keys"."cap_limit" >= 1 and "keys"."cap_limit" <= 9000000000000000),
	CONSTRAINT "keys_expire" CHECK ("keys"."expires_at" > "keys"."created_at")
);
--> statement-breakpoint
CREATE TABLE "leases" (
	"name" text PRIMARY KEY NOT NULL,
	"holder" text NOT NULL,
	"epoch" bigint NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "liabilities" (
	"number" bigint PRIMARY KEY NOT NULL,
	"statement" text NOT NULL,
	"digest" text NOT NULL,
	"signature" "bytea" NOT NULL,
	"log_place" bigint NOT NULL,
	"as_of" bigint NOT NULL,
	"seed" "bytea"
);
--> statement-breakpoint
CREATE TABLE "liability_parts" (
	"number" bigint NOT NULL,
	"part" integer NOT NULL,
	"bytes" "bytea" NOT NULL,
	CONSTRAINT "liability_parts_number_part_pk" PRIMARY KEY("number","part")
);
--> statement-breakpoint
CREATE TABLE "log_checkpoints" (
	"issuer" text NOT NULL,
	"size" bigint NOT NULL,
	"root" "bytea" NOT NULL,
	"timestamp" bigint NOT NULL,
	"signature" "bytea" NOT NULL,
	CONSTRAINT "log_checkpoints_issuer_size_pk" PRIMARY KEY("issuer","size")
);
--> statement-breakpoint
CREATE TABLE "log_leaves" (
	"idx" bigint PRIMARY KEY NOT NULL,
	"kind" integer NOT NULL,
	"hashes" "bytea" NOT NULL,
	"run_id" text
);
--> statement-breakpoint
CREATE TABLE "logs" (
	"number" integer PRIMARY KEY NOT NULL,
	"origin" text NOT NULL,
	"start" bigint NOT NULL,
	"opened_at" bigint NOT NULL,
	"reason" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "margin_days" (
	"day" bigint NOT NULL,
	"model" text NOT NULL,
	"account_id" text NOT NULL,
	"runs" bigint NOT NULL,
	"revenue" bigint NOT NULL,
	"cost" bigint NOT NULL,
	CONSTRAINT "margin_days_day_model_account_id_pk" PRIMARY KEY("day","model","account_id")
);
--> statement-breakpoint
CREATE TABLE "members" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"wallet" text NOT NULL,
	"role" text NOT NULL,
	"name" text,
	"branch" text,
	"console_key_id" text,
	"invited_by" text NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "open_runs" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"key_id" text NOT NULL,
	"node" text NOT NULL,
	"status" text NOT NULL,
	"kind" text NOT NULL,
	"model" text NOT NULL,
	"created_at" bigint NOT NULL,
	"started_at" bigint,
	"hold" bigint NOT NULL,
	"windows" text NOT NULL,
	"price_list" text NOT NULL,
	"discount_bps" integer NOT NULL,
	"tags" text NOT NULL,
	"metadata" text NOT NULL,
	"seed" "bytea" NOT NULL,
	"input_commitment" "bytea" NOT NULL,
	"passport" text NOT NULL,
	"background" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "operator_tokens" (
	"id" text PRIMARY KEY NOT NULL,
	"hash" text NOT NULL,
	"old_hash" text,
	"old_until" bigint,
	"name" text NOT NULL,
	"scopes" text NOT NULL,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"revoked_at" bigint,
	"last_used_at" bigint
);
--> statement-breakpoint
CREATE TABLE "passport_models" (
	"handle" text NOT NULL,
	"model" text NOT NULL,
	"runs" bigint NOT NULL,
	CONSTRAINT "passport_models_handle_model_pk" PRIMARY KEY("handle","model")
);
--> statement-breakpoint
CREATE TABLE "passport_statements" (
	"handle" text NOT NULL,
	"issuer" text NOT NULL,
	"as_of_size" bigint NOT NULL,
	"record" text NOT NULL,
	"digest" "bytea" NOT NULL,
	"signature" "bytea",
	"created_at" bigint NOT NULL,
	"log_place" bigint,
	CONSTRAINT "passport_statements_handle_issuer_as_of_size_pk" PRIMARY KEY("handle","issuer","as_of_size")
);
--> statement-breakpoint
CREATE TABLE "passports" (
	"handle" text PRIMARY KEY NOT NULL,
	"id" text NOT NULL,
	"account_id" text NOT NULL,
	"display_name" text NOT NULL,
	"kind" text NOT NULL,
	"bio" text NOT NULL,
	"links" text NOT NULL,
	"status" text NOT NULL,
	"owner_shown" boolean NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"published_at" bigint,
	"retired_at" bigint,
	"runs" bigint NOT NULL,
	"succeeded" bigint NOT NULL,
	"spent" bigint NOT NULL,
	"active_days" integer NOT NULL,
	"first_at" bigint,
	"last_at" bigint,
	"public_receipts" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "price_lists" (
	"id" text NOT NULL,
	"version" integer NOT NULL,
	"digest" text NOT NULL,
	"content" text NOT NULL,
	"created_at" bigint NOT NULL,
	"log_place" bigint,
	CONSTRAINT "price_lists_id_version_pk" PRIMARY KEY("id","version")
);
--> statement-breakpoint
CREATE TABLE "quotes" (
	"digest" text PRIMARY KEY NOT NULL,
	"id" text NOT NULL,
	"account_id" text NOT NULL,
	"key_id" text NOT NULL,
	"quote" text NOT NULL,
	"signature" "bytea" NOT NULL,
	"uses" integer NOT NULL,
	"used" integer NOT NULL,
	"expires_at" bigint NOT NULL,
	CONSTRAINT "quotes_used" CHECK ("quotes"."used" >= 0 and "quotes"."used" <= "quotes"."uses")
);
--> statement-breakpoint
CREATE TABLE "receipt_signatures" (
	"place" bigint PRIMARY KEY NOT NULL,
	"signature" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "run_costs" (
	"run_id" text PRIMARY KEY NOT NULL,
	"cost" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "run_texts" (
	"run_id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"input" text NOT NULL,
	"output" text,
	"until" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "runs" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"key_id" text NOT NULL,
	"node" text NOT NULL,
	"status" text NOT NULL,
	"kind" text NOT NULL,
	"model" text NOT NULL,
	"created_at" bigint NOT NULL,
	"started_at" bigint,
	"hold" bigint NOT NULL,
	"windows" text NOT NULL,
	"price_list" text NOT NULL,
	"discount_bps" integer NOT NULL,
	"tags" text NOT NULL,
	"metadata" text NOT NULL,
	"seed" "bytea" NOT NULL,
	"input_commitment" "bytea" NOT NULL,
	"passport" text NOT NULL,
	"background" boolean NOT NULL,
	"route" text NOT NULL,
	"first_byte_at" bigint,
	"finished_at" bigint NOT NULL,
	"lines" text NOT NULL,
	"cost" bigint NOT NULL,
	"usage_source" text NOT NULL,
	"clamped" boolean NOT NULL,
	"outcome" text NOT NULL,
	"error" text,
	"duration_ms" bigint NOT NULL,
	"output_commitment" "bytea",
	"issuer" text NOT NULL,
	"digest" "bytea" NOT NULL,
	"output" text,
	"output_until" bigint,
	"log_place" bigint,
	"seq" bigint,
	"moved_at" bigint,
	"balance" bigint,
	CONSTRAINT "runs_paid_within_hold" CHECK ("runs"."cost" >= 0 and "runs"."cost" <= "runs"."hold")
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" text PRIMARY KEY NOT NULL,
	"token_hash" text NOT NULL,
	"account_id" text NOT NULL,
	"created_at" bigint NOT NULL,
	"last_seen_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"user_agent" text NOT NULL,
	"client_address" text NOT NULL,
	"member_id" text
);
--> statement-breakpoint
CREATE TABLE "shares" (
	"receipt_id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"visibility" text NOT NULL,
	"sections" text NOT NULL,
	"revealed" text NOT NULL,
	"digest" "bytea" NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sign_in_nonces" (
	"nonce" text PRIMARY KEY NOT NULL,
	"browser_hash" text NOT NULL,
	"account_id" text,
	"message" text,
	"issued_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "signers" (
	"issuer" text NOT NULL,
	"address" text NOT NULL,
	"public_key" text NOT NULL,
	"from_index" bigint NOT NULL,
	"until_index" bigint,
	"added_at" bigint NOT NULL,
	"previous" text,
	"reason" text NOT NULL,
	"signature" "bytea",
	"log_place" bigint,
	CONSTRAINT "signers_issuer_address_pk" PRIMARY KEY("issuer","address")
);
--> statement-breakpoint
CREATE TABLE "slot_move_rows" (
	"move" text NOT NULL,
	"place" integer NOT NULL,
	"kind" text NOT NULL,
	"row" text NOT NULL,
	CONSTRAINT "slot_move_rows_move_place_pk" PRIMARY KEY("move","place")
);
--> statement-breakpoint
CREATE TABLE "slot_moves" (
	"id" text PRIMARY KEY NOT NULL,
	"way" text NOT NULL,
	"peer" text NOT NULL,
	"slots" text NOT NULL,
	"state" text NOT NULL,
	"digest" text,
	"accounts" integer NOT NULL,
	"amount" bigint NOT NULL,
	"begun_at" bigint NOT NULL,
	"ended_at" bigint
);
--> statement-breakpoint
CREATE TABLE "slots" (
	"slot" integer PRIMARY KEY NOT NULL,
	"shard" text NOT NULL,
	"state" text NOT NULL,
	"move" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "subscriptions" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"plan" text NOT NULL,
	"status" text NOT NULL,
	"price" bigint NOT NULL,
	"started_at" bigint NOT NULL,
	"period_start" bigint NOT NULL,
	"period_end" bigint,
	"next_plan" text,
	"ended_at" bigint,
	CONSTRAINT "subscriptions_priced" CHECK ("subscriptions"."price" >= 0),
	CONSTRAINT "subscriptions_last" CHECK ("subscriptions"."period_end" is null or "subscriptions"."period_end" > "subscriptions"."period_start")
);
--> statement-breakpoint
CREATE TABLE "terminal_allowances" (
	"day" bigint NOT NULL,
	"client" text NOT NULL,
	"used" integer NOT NULL,
	CONSTRAINT "terminal_allowances_day_client_pk" PRIMARY KEY("day","client")
);
--> statement-breakpoint
CREATE TABLE "transfers" (
	"account_id" text NOT NULL,
	"ref" text NOT NULL,
	"kind" text NOT NULL,
	"source" text NOT NULL,
	"target" text NOT NULL,
	"amount" bigint NOT NULL,
	"at" bigint NOT NULL,
	"seq" bigint NOT NULL,
	"balance" bigint NOT NULL,
	CONSTRAINT "transfers_account_id_ref_kind_pk" PRIMARY KEY("account_id","ref","kind"),
	CONSTRAINT "transfers_move" CHECK ("transfers"."amount" > 0 and "transfers"."source" <> "transfers"."target")
);
--> statement-breakpoint
CREATE TABLE "unnumbered_batches" (
	"ended_at" bigint NOT NULL,
	"id" text NOT NULL,
	"runs" text NOT NULL,
	CONSTRAINT "unnumbered_batches_ended_at_id_pk" PRIMARY KEY("ended_at","id")
);
--> statement-breakpoint
CREATE TABLE "upstream_evidence" (
	"run_id" text PRIMARY KEY NOT NULL,
	"upstream" text NOT NULL,
	"model" text NOT NULL,
	"scheme" text NOT NULL,
	"state" text NOT NULL,
	"reason" text,
	"request_hash" "bytea",
	"answer_hash" "bytea",
	"answer_id" text,
	"tries" integer NOT NULL,
	"ended_at" bigint NOT NULL,
	"due_at" bigint,
	"document" text,
	"key" text,
	"checked_at" bigint,
	"salt" "bytea",
	"digest" "bytea",
	"log_place" bigint
);
--> statement-breakpoint
CREATE TABLE "usage_days" (
	"account_id" text NOT NULL,
	"day" bigint NOT NULL,
	"key_id" text NOT NULL,
	"model" text NOT NULL,
	"runs" integer NOT NULL,
	"succeeded" integer NOT NULL,
	"input_units" bigint NOT NULL,
	"output_units" bigint NOT NULL,
	"cached_units" bigint NOT NULL,
	"cache_write_units" bigint NOT NULL,
	"reasoning_units" bigint NOT NULL,
	"cost" bigint NOT NULL,
	CONSTRAINT "usage_days_account_id_day_key_id_model_pk" PRIMARY KEY("account_id","day","key_id","model")
);
--> statement-breakpoint
CREATE TABLE "usage_quarters" (
	"account_id" text NOT NULL,
	"at" bigint NOT NULL,
	"key_id" text NOT NULL,
	"model" text NOT NULL,
	"provider" text NOT NULL,
	"runs" integer NOT NULL,
	"succeeded" integer NOT NULL,
	"input_units" bigint NOT NULL,
	"output_units" bigint NOT NULL,
	"cached_units" bigint NOT NULL,
	"cache_write_units" bigint NOT NULL,
	"reasoning_units" bigint NOT NULL,
	"cost" bigint NOT NULL,
	CONSTRAINT "usage_quarters_account_id_at_key_id_model_provider_pk" PRIMARY KEY("account_id","at","key_id","model","provider")
);
--> statement-breakpoint
CREATE TABLE "voucher_batches" (
	"id" text PRIMARY KEY NOT NULL,
	"amount" bigint NOT NULL,
	"count" integer NOT NULL,
	"per_account" integer,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"revoked_at" bigint,
	"redeemed" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "voucher_codes" (
	"hash" text PRIMARY KEY NOT NULL,
	"batch_id" text NOT NULL,
	"serial" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "voucher_redemptions" (
	"hash" text PRIMARY KEY NOT NULL,
	"batch_id" text NOT NULL,
	"account_id" text NOT NULL,
	"at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"id" text PRIMARY KEY NOT NULL,
	"webhook_id" text NOT NULL,
	"event_id" text NOT NULL,
	"type" text NOT NULL,
	"subject" text NOT NULL,
	"place" bigint NOT NULL,
	"status" text NOT NULL,
	"attempts" integer NOT NULL,
	"since" bigint NOT NULL,
	"next_at" bigint,
	"tried_at" bigint,
	"http_status" integer,
	"duration_ms" bigint,
	"error" text,
	"tries" text NOT NULL,
	"done_at" bigint
);
--> statement-breakpoint
CREATE TABLE "webhooks" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"url" text NOT NULL,
	"events" text NOT NULL,
	"description" text NOT NULL,
	"format" text NOT NULL,
	"secret" "bytea",
	"old_secret" "bytea",
	"old_until" bigint,
	"created_at" bigint NOT NULL,
	"disabled_at" bigint,
	"disabled_reason" text,
	"made_by" text,
	"failing_since" bigint,
	"dropped" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "accounts_by_free_day" ON "accounts" USING btree ("free_day") WHERE "accounts"."free_day" is not null;--> statement-breakpoint
CREATE INDEX "anchors_by_size" ON "anchors" USING btree ("issuer","size");--> statement-breakpoint
CREATE INDEX "anchors_open" ON "anchors" USING btree ("id") WHERE "anchors"."status" in ('pending', 'submitted', 'confirmed');--> statement-breakpoint
CREATE INDEX "audit_entries_by_account" ON "audit_entries" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "chain_txs_by_subject" ON "chain_txs" USING btree ("purpose","subject");--> statement-breakpoint
CREATE INDEX "chain_txs_by_nonce" ON "chain_txs" USING btree ("sender","nonce");--> statement-breakpoint
CREATE INDEX "cosignatures_by_size" ON "cosignatures" USING btree ("issuer","size");--> statement-breakpoint
CREATE UNIQUE INDEX "deposits_by_transfer" ON "deposits" USING btree ("chain_id","tx_hash","token","from_address","token_amount","ordinal");--> statement-breakpoint
CREATE INDEX "deposits_by_account" ON "deposits" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "deposits_by_block" ON "deposits" USING btree ("block_number");--> statement-breakpoint
CREATE INDEX "deposits_open" ON "deposits" USING btree ("block_number","id") WHERE "deposits"."status" in ('detected', 'confirming', 'credited');--> statement-breakpoint
CREATE INDEX "events_by_routing" ON "events" USING btree ("routed_at","place");--> statement-breakpoint
CREATE INDEX "idempotent_calls_by_end" ON "idempotent_calls" USING btree ("until");--> statement-breakpoint
CREATE INDEX "idempotent_calls_by_run" ON "idempotent_calls" USING btree ("run_id") WHERE "idempotent_calls"."run_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "invitations_by_token" ON "invitations" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "invitations_by_account" ON "invitations" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "kept_items_by_run" ON "kept_items" USING btree ("run_id");--> statement-breakpoint
CREATE INDEX "kept_items_by_end" ON "kept_items" USING btree ("until");--> statement-breakpoint
CREATE INDEX "kept_items_by_account" ON "kept_items" USING btree ("account_id","until","run_id","bytes");--> statement-breakpoint
CREATE INDEX "key_secrets_by_key" ON "key_secrets" USING btree ("key_id");--> statement-breakpoint
CREATE INDEX "keys_by_account" ON "keys" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "keys_in_use" ON "keys" USING btree ("account_id","expires_at") WHERE "keys"."revoked_at" is null;--> statement-breakpoint
CREATE INDEX "keys_by_end" ON "keys" USING btree ("expires_at") WHERE "keys"."revoked_at" is null;--> statement-breakpoint
CREATE INDEX "keys_by_branch" ON "keys" USING btree ("branch","id") WHERE "keys"."branch" is not null;--> statement-breakpoint
CREATE INDEX "log_leaves_by_run" ON "log_leaves" USING btree ("run_id") WHERE "log_leaves"."run_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "logs_by_origin" ON "logs" USING btree ("origin");--> statement-breakpoint
CREATE UNIQUE INDEX "members_once" ON "members" USING btree ("account_id","wallet");--> statement-breakpoint
CREATE INDEX "members_by_wallet" ON "members" USING btree ("wallet","id");--> statement-breakpoint
CREATE UNIQUE INDEX "operator_tokens_by_hash" ON "operator_tokens" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "operator_tokens_by_old_hash" ON "operator_tokens" USING btree ("old_hash");--> statement-breakpoint
CREATE INDEX "passport_statements_unlogged" ON "passport_statements" USING btree ("created_at") WHERE "passport_statements"."log_place" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "passports_by_id" ON "passports" USING btree ("id");--> statement-breakpoint
CREATE INDEX "passports_by_account" ON "passports" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "passports_by_kind" ON "passports" USING btree ("kind","published_at","handle") WHERE "passports"."status" = 'public';--> statement-breakpoint
CREATE INDEX "passports_newest" ON "passports" USING btree ("published_at","handle") WHERE "passports"."status" = 'public';--> statement-breakpoint
CREATE INDEX "passports_busiest" ON "passports" USING btree ("runs","handle") WHERE "passports"."status" = 'public';--> statement-breakpoint
CREATE INDEX "passports_by_handle" ON "passports" USING btree ("handle" text_pattern_ops) WHERE "passports"."status" = 'public';--> statement-breakpoint
CREATE UNIQUE INDEX "quotes_by_id" ON "quotes" USING btree ("id");--> statement-breakpoint
CREATE INDEX "quotes_by_account" ON "quotes" USING btree ("account_id","expires_at");--> statement-breakpoint
CREATE INDEX "quotes_by_end" ON "quotes" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "quotes_unused" ON "quotes" USING btree ("expires_at") WHERE "quotes"."used" = 0;--> statement-breakpoint
CREATE INDEX "run_texts_by_end" ON "run_texts" USING btree ("until");--> statement-breakpoint
CREATE INDEX "run_texts_by_account" ON "run_texts" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "runs_by_key" ON "runs" USING btree ("key_id","id");--> statement-breakpoint
CREATE INDEX "runs_by_account" ON "runs" USING btree ("account_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "runs_charged" ON "runs" USING btree ("account_id","moved_at","seq") WHERE "runs"."seq" is not null;--> statement-breakpoint
CREATE INDEX "runs_kept" ON "runs" USING btree ("output_until") WHERE "runs"."output_until" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "sessions_by_token" ON "sessions" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "sessions_by_account" ON "sessions" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "sessions_by_end" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "sessions_by_member" ON "sessions" USING btree ("member_id") WHERE "sessions"."member_id" is not null;--> statement-breakpoint
CREATE INDEX "shares_by_visibility" ON "shares" USING btree ("visibility","receipt_id");--> statement-breakpoint
CREATE INDEX "shares_by_digest" ON "shares" USING btree ("digest");--> statement-breakpoint
CREATE INDEX "shares_by_account" ON "shares" USING btree ("account_id","receipt_id");--> statement-breakpoint
CREATE INDEX "sign_in_nonces_by_end" ON "sign_in_nonces" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "subscriptions_live" ON "subscriptions" USING btree ("account_id") WHERE "subscriptions"."status" in ('active', 'canceling');--> statement-breakpoint
CREATE INDEX "subscriptions_due" ON "subscriptions" USING btree ("period_end") WHERE "subscriptions"."status" in ('active', 'canceling');--> statement-breakpoint
CREATE INDEX "subscriptions_by_account" ON "subscriptions" USING btree ("account_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "transfers_in_order" ON "transfers" USING btree ("account_id","at","seq");--> statement-breakpoint
CREATE UNIQUE INDEX "transfers_credit_once" ON "transfers" USING btree ("ref") WHERE "transfers"."kind" = 'deposit';--> statement-breakpoint
CREATE INDEX "upstream_evidence_due" ON "upstream_evidence" USING btree ("due_at") WHERE "upstream_evidence"."due_at" is not null;--> statement-breakpoint
CREATE INDEX "upstream_evidence_by_place" ON "upstream_evidence" USING btree ("log_place") WHERE "upstream_evidence"."log_place" is not null;--> statement-breakpoint
CREATE INDEX "voucher_codes_by_batch" ON "voucher_codes" USING btree ("batch_id","serial");--> statement-breakpoint
CREATE INDEX "voucher_redemptions_by_account" ON "voucher_redemptions" USING btree ("batch_id","account_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_by_webhook" ON "webhook_deliveries" USING btree ("webhook_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_by_event" ON "webhook_deliveries" USING btree ("event_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("next_at") WHERE "webhook_deliveries"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_in_order" ON "webhook_deliveries" USING btree ("webhook_id","subject","place") WHERE "webhook_deliveries"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_done" ON "webhook_deliveries" USING btree ("done_at") WHERE "webhook_deliveries"."done_at" is not null;--> statement-breakpoint
CREATE INDEX "webhooks_by_account" ON "webhooks" USING btree ("account_id","id");
--> statement-breakpoint
CREATE FUNCTION never_again() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''this table is append-only''; END';
--> statement-breakpoint
CREATE TRIGGER transfers_never_change BEFORE UPDATE OR DELETE ON "transfers" FOR EACH ROW EXECUTE FUNCTION never_again();
--> statement-breakpoint
CREATE TRIGGER keys_stay_revoked BEFORE UPDATE ON "keys" FOR EACH ROW WHEN (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at) EXECUTE FUNCTION never_again();
--> statement-breakpoint
CREATE TRIGGER keys_stay_in_place BEFORE UPDATE ON "keys" FOR EACH ROW WHEN (NEW.account_id IS DISTINCT FROM OLD.account_id OR NEW.parent_id IS DISTINCT FROM OLD.parent_id OR NEW.lineage IS DISTINCT FROM OLD.lineage) EXECUTE FUNCTION never_again();
--> statement-breakpoint
CREATE TRIGGER log_leaves_never_change BEFORE UPDATE OR DELETE ON "log_leaves" FOR EACH ROW EXECUTE FUNCTION never_again();
--> statement-breakpoint
CREATE TRIGGER log_checkpoints_never_change BEFORE UPDATE OR DELETE ON "log_checkpoints" FOR EACH ROW EXECUTE FUNCTION never_again();
--> statement-breakpoint
CREATE VIEW "journal" AS SELECT account_id, ref, kind, source, target, amount, at, seq, balance FROM transfers UNION ALL SELECT account_id, id, CAST('run' AS text), CAST('user' AS text), CAST('revenue' AS text), cost, moved_at, seq, balance FROM runs WHERE seq IS NOT NULL;
--> statement-breakpoint
CREATE TRIGGER runs_charge_never_changes BEFORE UPDATE OF "id", "account_id", "cost", "finished_at", "seq", "moved_at", "balance" ON "runs" FOR EACH ROW EXECUTE FUNCTION never_again();
--> statement-breakpoint
CREATE TRIGGER runs_never_vanish BEFORE DELETE ON "runs" FOR EACH ROW EXECUTE FUNCTION never_again();
--> statement-breakpoint
ALTER TABLE "open_runs" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
--> statement-breakpoint
ALTER TABLE "unnumbered_batches" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
