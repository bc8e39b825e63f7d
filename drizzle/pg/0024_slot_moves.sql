CREATE TABLE "carried_windows" (
	"key_id" text NOT NULL,
	"window_start" bigint NOT NULL,
	"amount" bigint NOT NULL,
	CONSTRAINT "carried_windows_key_id_window_start_pk" PRIMARY KEY("key_id","window_start")
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
ALTER TABLE "accounts" ADD COLUMN "slot_move" text;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "left_at" bigint;--> statement-breakpoint
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_left" CHECK ("accounts"."left_at" is null or ("accounts"."balance" = 0 and "accounts"."held" = 0));