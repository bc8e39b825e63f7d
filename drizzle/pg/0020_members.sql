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
CREATE TABLE "members" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"wallet" text NOT NULL,
	"role" text NOT NULL,
	"branch" text,
	"console_key_id" text,
	"invited_by" text NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "branch" text;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "member_id" text;--> statement-breakpoint
CREATE UNIQUE INDEX "invitations_by_token" ON "invitations" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "invitations_by_account" ON "invitations" USING btree ("account_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "members_once" ON "members" USING btree ("account_id","wallet");--> statement-breakpoint
CREATE INDEX "members_by_wallet" ON "members" USING btree ("wallet","id");--> statement-breakpoint
CREATE INDEX "keys_by_branch" ON "keys" USING btree ("branch","id") WHERE "keys"."branch" is not null;--> statement-breakpoint
CREATE INDEX "sessions_by_member" ON "sessions" USING btree ("member_id") WHERE "sessions"."member_id" is not null;