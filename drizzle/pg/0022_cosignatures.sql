CREATE TABLE "cosignatures" (
	"issuer" text NOT NULL,
	"witness" text NOT NULL,
	"size" bigint NOT NULL,
	"time" bigint NOT NULL,
	"signature" "bytea" NOT NULL,
	CONSTRAINT "cosignatures_issuer_witness_size_pk" PRIMARY KEY("issuer","witness","size")
);
--> statement-breakpoint
CREATE INDEX "cosignatures_by_size" ON "cosignatures" USING btree ("issuer","size");