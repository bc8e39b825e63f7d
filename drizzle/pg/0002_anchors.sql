CREATE TABLE "account_settings" (
	"account_id" text PRIMARY KEY NOT NULL,
	"retention" text NOT NULL
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
CREATE TABLE "erased_receipts" (
	"receipt_id" text PRIMARY KEY NOT NULL,
	"receipt" text NOT NULL,
	"erased_at" bigint NOT NULL
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
CREATE TABLE "run_texts" (
	"run_id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"input" text NOT NULL,
	"output" text,
	"until" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "shares" (
	"receipt_id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"visibility" text NOT NULL,
	"sections" text NOT NULL,
	"revealed" text NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
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
ALTER TABLE "log_checkpoints" DROP CONSTRAINT "log_checkpoints_pkey";--> statement-breakpoint
ALTER TABLE "log_checkpoints" ADD CONSTRAINT "log_checkpoints_issuer_size_pk" PRIMARY KEY("issuer","size");--> statement-breakpoint
ALTER TABLE "price_lists" ADD COLUMN "log_place" bigint;--> statement-breakpoint
CREATE INDEX "anchors_by_size" ON "anchors" USING btree ("issuer","size");--> statement-breakpoint
CREATE INDEX "chain_txs_by_subject" ON "chain_txs" USING btree ("purpose","subject");--> statement-breakpoint
CREATE INDEX "chain_txs_by_nonce" ON "chain_txs" USING btree ("sender","nonce");--> statement-breakpoint
CREATE UNIQUE INDEX "logs_by_origin" ON "logs" USING btree ("origin");--> statement-breakpoint
CREATE INDEX "run_texts_by_end" ON "run_texts" USING btree ("until");--> statement-breakpoint
CREATE INDEX "run_texts_by_account" ON "run_texts" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "shares_by_visibility" ON "shares" USING btree ("visibility","receipt_id");--> statement-breakpoint
CREATE INDEX "shares_by_account" ON "shares" USING btree ("account_id","receipt_id");--> statement-breakpoint
-- The log that was there before logs had a page of their own.
INSERT INTO "logs" ("number", "origin", "start", "opened_at", "reason") SELECT 1, "value", 0, 0, '' FROM "facts" WHERE "name" = 'log.origin';
