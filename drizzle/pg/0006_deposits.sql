CREATE TABLE "deposits" (
	"id" text PRIMARY KEY NOT NULL,
	"chain_id" integer NOT NULL,
	"tx_hash" text NOT NULL,
	"log_index" integer NOT NULL,
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
	"loss_nusd" bigint NOT NULL,
	"moved_nusd" bigint,
	CONSTRAINT "deposits_counted" CHECK ("deposits"."credits" >= 0 and "deposits"."loss_nusd" >= 0)
);
--> statement-breakpoint
CREATE UNIQUE INDEX "deposits_by_log" ON "deposits" USING btree ("chain_id","tx_hash","log_index");--> statement-breakpoint
CREATE INDEX "deposits_by_account" ON "deposits" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "deposits_by_block" ON "deposits" USING btree ("block_number");--> statement-breakpoint
CREATE INDEX "deposits_open" ON "deposits" USING btree ("block_number","id") WHERE "deposits"."status" in ('detected', 'confirming', 'credited');