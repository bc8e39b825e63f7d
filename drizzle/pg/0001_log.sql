CREATE TABLE "log_checkpoints" (
	"size" bigint PRIMARY KEY NOT NULL,
	"issuer" text NOT NULL,
	"root" "bytea" NOT NULL,
	"timestamp" bigint NOT NULL,
	"signature" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "log_leaves" (
	"idx" bigint PRIMARY KEY NOT NULL,
	"kind" integer NOT NULL,
	"hashes" "bytea" NOT NULL
);--> statement-breakpoint
CREATE TRIGGER log_leaves_never_change BEFORE UPDATE OR DELETE ON "log_leaves" FOR EACH ROW EXECUTE FUNCTION never_again();--> statement-breakpoint
CREATE TRIGGER log_checkpoints_never_change BEFORE UPDATE OR DELETE ON "log_checkpoints" FOR EACH ROW EXECUTE FUNCTION never_again();--> statement-breakpoint
-- What was numbered before there was a tree is numbered anew, with its leaf.
UPDATE "runs" SET "log_index" = NULL;--> statement-breakpoint
DELETE FROM "facts" WHERE "name" = 'log.size';
