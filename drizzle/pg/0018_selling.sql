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
CREATE UNIQUE INDEX "operator_tokens_by_hash" ON "operator_tokens" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "operator_tokens_by_old_hash" ON "operator_tokens" USING btree ("old_hash");--> statement-breakpoint
CREATE INDEX "voucher_codes_by_batch" ON "voucher_codes" USING btree ("batch_id","serial");--> statement-breakpoint
CREATE INDEX "voucher_redemptions_by_account" ON "voucher_redemptions" USING btree ("batch_id","account_id");