DROP INDEX "deposits_by_log";--> statement-breakpoint
ALTER TABLE "deposits" ADD COLUMN "ordinal" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "deposits" ADD COLUMN "reversals" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE "deposits" SET "log_index" = -1 - "log_index" WHERE "log_index" < 0;--> statement-breakpoint
UPDATE "deposits" SET "reversals" = CASE WHEN "status" IN ('credited', 'finalized') THEN "credits" - 1 ELSE "credits" END WHERE "credits" > 0;--> statement-breakpoint
UPDATE "deposits" SET "ordinal" = numbered.n, "reason" = CASE WHEN state = 0 AND again > 1 THEN 'credited_twice' ELSE reason END FROM (SELECT id, state, again, row_number() OVER (PARTITION BY chain_id, tx_hash, token, from_address, token_amount ORDER BY state, again, log_index, id) - 1 AS n FROM (SELECT *, row_number() OVER (PARTITION BY chain_id, tx_hash, token, from_address, token_amount, state, log_index ORDER BY id) AS again FROM (SELECT *, CASE WHEN status IN ('credited', 'finalized') THEN 0 WHEN status IN ('orphaned', 'reversed') THEN 2 ELSE 1 END AS state FROM deposits) AS ranked) AS told) AS numbered WHERE deposits.id = numbered.id;--> statement-breakpoint
CREATE UNIQUE INDEX "deposits_by_transfer" ON "deposits" USING btree ("chain_id","tx_hash","token","from_address","token_amount","ordinal");--> statement-breakpoint
ALTER TABLE "transfers" DISABLE TRIGGER transfers_never_change;--> statement-breakpoint
UPDATE "transfers" SET "ref" = d.chain_id || '/' || d.tx_hash || '/' || d.token || '/' || d.from_address || '/' || d.token_amount || '/' || d.ordinal || substr(transfers.ref, length(d.id) + 1) FROM deposits AS d WHERE transfers.kind IN ('deposit', 'reversal', 'loss', 'claim') AND d.id = split_part(transfers.ref, '/', 1);--> statement-breakpoint
ALTER TABLE "transfers" ENABLE TRIGGER transfers_never_change;--> statement-breakpoint
CREATE UNIQUE INDEX "transfers_credit_once" ON "transfers" USING btree ("ref") WHERE "transfers"."kind" = 'deposit';
