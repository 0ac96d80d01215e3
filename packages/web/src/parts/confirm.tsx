import { signal } from "@preact/signals";
import { Dialog } from "./dialog.tsx";

interface Question {
  readonly title: string;
  readonly text: string;
  /** What the button does: "Remove 3 sandboxes". */
  readonly action: string;
  readonly kind: Kind;
  readonly answer: (yes: boolean) => void;
}

/** Whether something is lost by it. */
type Kind = "loses" | "keeps";

const question = signal<Question | undefined>(undefined);

/** Asks before something that can't be taken back, or is done to many. */
export function confirmed(title: string, text: string, action: string, kind: Kind = "loses"): Promise<boolean> {
  return new Promise((resolve) => {
    question.value = {
      title,
      text,
      action,
      kind,
      answer: (yes) => {
        question.value = undefined;
        resolve(yes);
      },
    };
  });
}

export function Confirmation() {
  const asked = question.value;
  if (asked === undefined) return null;
  return (
    <Dialog title={asked.title} onClose={() => asked.answer(false)}>
      <p>{asked.text}</p>
      <div class="row">
        <button type="button" class={asked.kind === "loses" ? "bad" : "fill"} onClick={() => asked.answer(true)}>
          {asked.action}
        </button>
        <button type="button" onClick={() => asked.answer(false)}>
          {asked.kind === "loses" ? "Keep" : "Not now"}
        </button>
      </div>
    </Dialog>
  );
}
