interface NameFieldProps {
  readonly label: string;
  readonly name: string;
  /** Without it one is chosen if none is given. */
  readonly required?: boolean;
  readonly onName: (name: string) => void;
}

/** Where a name is typed. */
export function NameField({ label, name, required = false, onName }: NameFieldProps) {
  return (
    <label>
      {label}
      <input
        value={name}
        required={required}
        placeholder={required ? "" : "chosen for you"}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onName(event.currentTarget.value)}
      />
    </label>
  );
}
