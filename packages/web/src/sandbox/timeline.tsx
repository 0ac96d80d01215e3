import type { Event, Operation } from "@torpor/contract";
import { useEffect, useState } from "preact/hooks";
import { listEvents, listOperations } from "../api/calls.ts";
import { sentence } from "../api/sentence.ts";
import { formatBytes } from "../format/bytes.ts";
import { formatTook } from "../format/duration.ts";
import { onEvent } from "../state/live.ts";
import { type Moment, momentsOf, phasesOf } from "./moments.ts";

interface TimelineProps {
  /** A sandbox's, also of one that is gone. */
  readonly id: string;
  /** What is at work on it. */
  readonly operationId: string | undefined;
}

export function Timeline({ id, operationId }: TimelineProps) {
  const [moments, setMoments] = useState<readonly Moment[] | undefined>(undefined);
  const [fault, setFault] = useState("");
  useEffect(() => {
    let gone = false;
    const load = () =>
      Promise.all([listOperations(id), listEvents(id)]).then(
        ([operations, events]) => {
          if (gone) return;
          setMoments(momentsOf(operations, events));
          setFault("");
        },
        (error: Error) => setFault(sentence(error)),
      );
    void load();
    const release = onEvent((about) => {
      if (about === id) void load();
    });
    return () => {
      gone = true;
      release();
    };
  }, [id, operationId]);
  if (fault !== "") return <p class="fault">{fault}</p>;
  if (moments === undefined) return <p class="soft">Looking…</p>;
  return (
    <ol class="timeline">
      {moments.map((moment) =>
        "event" in moment ? (
          <EventItem key={moment.event.seq} event={moment.event} />
        ) : (
          <OperationItem key={moment.operation.id} {...moment} />
        ),
      )}
    </ol>
  );
}

interface OperationItemProps {
  readonly operation: Operation;
  readonly events: readonly Event[];
}

function OperationItem({ operation, events }: OperationItemProps) {
  const { kind, status, actor, error, startedAt, endedAt, phase } = operation;
  const phases = phasesOf(operation);
  const took = endedAt === null ? undefined : Date.parse(endedAt) - Date.parse(startedAt);
  return (
    <li class={status === "failed" ? "failed" : ""}>
      <div class="row">
        <h2>{kind}</h2>
        <span class="soft small">
          {status === "running" ? `at work: ${phase}` : status === "failed" ? "failed" : "done"}
          {took === undefined ? "" : ` in ${formatTook(took)}`}
          {actor === "user" ? "" : ` · by ${actor}`}
        </span>
        <Time at={startedAt} />
      </div>
      {phases.length === 0 ? null : (
        <div class="phases" role="img" aria-label={phases.map(([name, ms]) => `${name} ${formatTook(ms)}`).join(", ")}>
          {phases.map(([name, ms]) => (
            <span key={name} style={{ flexGrow: Math.max(ms, 0.5) }} title={`${name}: ${formatTook(ms)}`} />
          ))}
        </div>
      )}
      {phases.length === 0 ? null : <p class="soft small">{phases.map(([name, ms]) => `${name} ${formatTook(ms)}`).join(" · ")}</p>}
      {error === null ? null : <p class="fault">{sentence(error)}</p>}
      <p class="small">{[...factsOf(operation), ...events.map(({ type }) => type)].join(" · ")}</p>
    </li>
  );
}

function EventItem({ event }: { readonly event: Event }) {
  return (
    <li class="event">
      <div class="row">
        <h2>{event.type}</h2>
        <Time at={event.at} />
      </div>
    </li>
  );
}

function Time({ at }: { readonly at: string }) {
  return (
    <time class="soft small" dateTime={at} title={at}>
      {new Date(at).toLocaleString()}
    </time>
  );
}

function factsOf({ result }: Operation): string[] {
  const facts: string[] = [];
  const bytes = (name: string, value: unknown) => typeof value === "number" && value > 0 && facts.push(`${name} ${formatBytes(value)}`);
  bytes("released", result.releasedBytes);
  bytes("checkpoint", result.checkpointBytes);
  if (typeof result.restored === "string") facts.push(`restored ${result.restored}`);
  if (typeof result.reason === "string") facts.push(result.reason);
  if (typeof result.frozenMs === "number") facts.push(`frozen for ${formatTook(result.frozenMs)}`);
  return facts;
}
