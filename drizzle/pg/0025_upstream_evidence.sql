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
CREATE INDEX "upstream_evidence_due" ON "upstream_evidence" USING btree ("due_at") WHERE "upstream_evidence"."due_at" is not null;--> statement-breakpoint
CREATE INDEX "upstream_evidence_by_place" ON "upstream_evidence" USING btree ("log_place") WHERE "upstream_evidence"."log_place" is not null;