import { signal } from "@preact/signals";
import { Dialog } from "./dialog.tsx";

interface Question {
  readonly title: string;
  readonly text: string;
  /** What the button does: "Remove 3 sandboxes". */
  readonly action: string;
  readonly answer: (yes: boolean) => void;
}

const question = signal<Question | undefined>(undefined);

/** Asks before something that can't be taken back. */
export function confirmed(title: string, text: string, action: string): Promise<boolean> {
  return new Promise((resolve) => {
    question.value = {
      title,
      text,
      action,
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
        <button type="button" class="bad" onClick={() => asked.answer(true)}>
          {asked.action}
        </button>
        <button type="button" onClick={() => asked.answer(false)}>
          Keep
        </button>
      </div>
    </Dialog>
  );
}
