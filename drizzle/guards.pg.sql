CREATE FUNCTION never_again() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''this table is append-only''; END';
--> statement-breakpoint
CREATE TRIGGER transfers_never_change BEFORE UPDATE OR DELETE ON "transfers" FOR EACH ROW EXECUTE FUNCTION never_again();
--> statement-breakpoint
CREATE TRIGGER keys_stay_revoked BEFORE UPDATE ON "keys" FOR EACH ROW WHEN (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at) EXECUTE FUNCTION never_again();
--> statement-breakpoint
CREATE TRIGGER keys_stay_in_place BEFORE UPDATE ON "keys" FOR EACH ROW WHEN (NEW.account_id IS DISTINCT FROM OLD.account_id OR NEW.parent_id IS DISTINCT FROM OLD.parent_id OR NEW.lineage IS DISTINCT FROM OLD.lineage) EXECUTE FUNCTION never_again();
--> statement-breakpoint
CREATE TRIGGER log_leaves_never_change BEFORE UPDATE OR DELETE ON "log_leaves" FOR EACH ROW EXECUTE FUNCTION never_again();
--> statement-breakpoint
CREATE TRIGGER log_checkpoints_never_change BEFORE UPDATE OR DELETE ON "log_checkpoints" FOR EACH ROW EXECUTE FUNCTION never_again();
--> statement-breakpoint
CREATE VIEW "journal" AS SELECT account_id, ref, kind, source, target, amount, at, seq, balance FROM transfers UNION ALL SELECT account_id, id, CAST('run' AS text), CAST('user' AS text), CAST('revenue' AS text), cost, moved_at, seq, balance FROM runs WHERE seq IS NOT NULL;
--> statement-breakpoint
CREATE TRIGGER runs_charge_never_changes BEFORE UPDATE OF "id", "account_id", "cost", "finished_at", "seq", "moved_at", "balance" ON "runs" FOR EACH ROW EXECUTE FUNCTION never_again();
--> statement-breakpoint
CREATE TRIGGER runs_never_vanish BEFORE DELETE ON "runs" FOR EACH ROW EXECUTE FUNCTION never_again();
--> statement-breakpoint
ALTER TABLE "open_runs" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
--> statement-breakpoint
ALTER TABLE "unnumbered_batches" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
