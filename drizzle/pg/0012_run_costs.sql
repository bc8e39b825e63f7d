CREATE TABLE "margin_days" (
	"day" bigint NOT NULL,
	"model" text NOT NULL,
	"account_id" text NOT NULL,
	"runs" bigint NOT NULL,
	"revenue" bigint NOT NULL,
	"cost" bigint NOT NULL,
	CONSTRAINT "margin_days_day_model_account_id_pk" PRIMARY KEY("day","model","account_id")
);
--> statement-breakpoint
CREATE TABLE "run_costs" (
	"run_id" text PRIMARY KEY NOT NULL,
	"cost" bigint NOT NULL
);
