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
