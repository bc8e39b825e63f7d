CREATE TABLE "accounts" (
	"id" text PRIMARY KEY NOT NULL,
	"balance" bigint NOT NULL,
	"held" bigint NOT NULL,
	"status" text NOT NULL,
	"created_at" bigint NOT NULL,
	CONSTRAINT "accounts_solvent" CHECK ("accounts"."held" >= 0 and "accounts"."balance" >= "accounts"."held"),
	CONSTRAINT "accounts_bounded" CHECK ("accounts"."balance" <= 9000000000000000)
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
CREATE TABLE "facts" (
	"name" text PRIMARY KEY NOT NULL,
	"value" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "key_secrets" (
	"hash" text PRIMARY KEY NOT NULL,
	"key_id" text NOT NULL,
	"valid_until" bigint
);
--> statement-breakpoint
CREATE TABLE "key_windows" (
	"key_id" text NOT NULL,
	"window_start" bigint NOT NULL,
	"limit_nusd" bigint NOT NULL,
	"spent" bigint NOT NULL,
	"held" bigint NOT NULL,
	CONSTRAINT "key_windows_key_id_window_start_pk" PRIMARY KEY("key_id","window_start"),
	CONSTRAINT "key_windows_capped" CHECK ("key_windows"."held" >= 0 and "key_windows"."spent" >= 0 and "key_windows"."spent" + "key_windows"."held" <= "key_windows"."limit_nusd")
);
--> statement-breakpoint
CREATE TABLE "keys" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"parent_id" text,
	"lineage" text NOT NULL,
	"name" text NOT NULL,
	"fingerprint" text NOT NULL,
	"cap_limit" bigint NOT NULL,
	"cap_window" text NOT NULL,
	"rpm" integer,
	"concurrency" integer,
	"max_cost_per_run" bigint,
	"scopes" text NOT NULL,
	"models" text NOT NULL,
	"ip_cidrs" text NOT NULL,
	"tags" text NOT NULL,
	"children_count" integer NOT NULL,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"paused_at" bigint,
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
CREATE TABLE "price_lists" (
	"id" text NOT NULL,
	"version" integer NOT NULL,
	"digest" text NOT NULL,
	"content" text NOT NULL,
	"created_at" bigint NOT NULL,
	CONSTRAINT "price_lists_id_version_pk" PRIMARY KEY("id","version")
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
	"route" text NOT NULL,
	"created_at" bigint NOT NULL,
	"started_at" bigint,
	"first_byte_at" bigint,
	"finished_at" bigint,
	"hold" bigint NOT NULL,
	"windows" text NOT NULL,
	"price_list" text NOT NULL,
	"lines" text NOT NULL,
	"cost" bigint NOT NULL,
	"discount_bps" integer NOT NULL,
	"usage_source" text,
	"clamped" boolean NOT NULL,
	"outcome" text,
	"error" text,
	"tags" text NOT NULL,
	"metadata" text NOT NULL,
	"duration_ms" bigint,
	"seed" "bytea" NOT NULL,
	"input_commitment" "bytea" NOT NULL,
	"output_commitment" "bytea",
	"issuer" text NOT NULL,
	"passport" text NOT NULL,
	"digest" "bytea",
	"log_index" bigint,
	"signature" "bytea",
	"background" boolean NOT NULL,
	"output" text,
	"output_until" bigint,
	CONSTRAINT "runs_paid_within_hold" CHECK ("runs"."cost" >= 0 and "runs"."cost" <= "runs"."hold")
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
	CONSTRAINT "transfers_account_id_ref_kind_pk" PRIMARY KEY("account_id","ref","kind"),
	CONSTRAINT "transfers_move" CHECK ("transfers"."amount" > 0 and "transfers"."source" <> "transfers"."target")
);
--> statement-breakpoint
CREATE INDEX "audit_entries_by_account" ON "audit_entries" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "keys_by_account" ON "keys" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "runs_by_key" ON "runs" USING btree ("key_id","id");--> statement-breakpoint
CREATE INDEX "runs_open" ON "runs" USING btree ("node") WHERE "runs"."finished_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "runs_by_log_index" ON "runs" USING btree ("log_index") WHERE "runs"."log_index" is not null;--> statement-breakpoint
CREATE INDEX "runs_unnumbered" ON "runs" USING btree ("finished_at") WHERE "runs"."log_index" is null and "runs"."finished_at" is not null;--> statement-breakpoint
CREATE INDEX "runs_kept" ON "runs" USING btree ("output_until") WHERE "runs"."output_until" is not null;--> statement-breakpoint
CREATE FUNCTION never_again() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''this table is append-only''; END';--> statement-breakpoint
CREATE TRIGGER transfers_never_change BEFORE UPDATE OR DELETE ON "transfers" FOR EACH ROW EXECUTE FUNCTION never_again();--> statement-breakpoint
CREATE TRIGGER keys_stay_revoked BEFORE UPDATE ON "keys" FOR EACH ROW WHEN (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at) EXECUTE FUNCTION never_again();--> statement-breakpoint
CREATE TRIGGER keys_stay_in_place BEFORE UPDATE ON "keys" FOR EACH ROW WHEN (NEW.account_id IS DISTINCT FROM OLD.account_id OR NEW.parent_id IS DISTINCT FROM OLD.parent_id OR NEW.lineage IS DISTINCT FROM OLD.lineage) EXECUTE FUNCTION never_again();
