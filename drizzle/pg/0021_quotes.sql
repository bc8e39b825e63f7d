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
CREATE UNIQUE INDEX "quotes_by_id" ON "quotes" USING btree ("id");--> statement-breakpoint
CREATE INDEX "quotes_by_account" ON "quotes" USING btree ("account_id","expires_at");--> statement-breakpoint
CREATE INDEX "quotes_by_end" ON "quotes" USING btree ("expires_at");