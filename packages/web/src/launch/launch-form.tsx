import type { Image } from "@torpor/contract";
import { useEffect, useState } from "preact/hooks";
import { listImages } from "../api/calls.ts";
import { sentence } from "../api/sentence.ts";
import { parseBytes } from "../format/bytes.ts";
import { launch } from "./launch.ts";

const memorySizes = ["256 MiB", "512 MiB", "1 GiB", "2 GiB", "4 GiB"] as const;

/** Image, memory and name, and the button that this page is about. */
export function LaunchForm({ onLaunched, onCancel }: { readonly onLaunched?: () => void; readonly onCancel?: () => void }) {
  const images = useImages();
  const [image, setImage] = useState("");
  const [memory, setMemory] = useState<string>("512 MiB");
  const [name, setName] = useState("");
  const [starter, setStarter] = useState(true);
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Error | undefined>(undefined);
  if (images !== undefined && !(images instanceof Error) && images.length === 0) return <NoImage />;
  const references = images === undefined || images instanceof Error ? [] : images;
  const chosen = image === "" ? (references[0] ?? "") : image;
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setFault(undefined);
    const memoryBytes = parseBytes(memory);
    const wanted = {
      image: chosen,
      ...(memoryBytes === undefined ? {} : { resources: { memoryBytes } }),
      ...(name === "" ? {} : { name }),
    };
    try {
      await launch(wanted, starter ? "starter" : "shell");
      onLaunched?.();
    } catch (error) {
      setFault(error as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="form" onSubmit={submit} aria-label="Launch a sandbox">
      <label class="wide">
        Image
        <select value={chosen} disabled={references.length === 0} onChange={(event) => setImage(event.currentTarget.value)}>
          {references.map((reference) => (
            <option key={reference}>{reference}</option>
          ))}
        </select>
      </label>
      <label>
        Memory
        <select value={memory} onChange={(event) => setMemory(event.currentTarget.value)}>
          {memorySizes.map((size) => (
            <option key={size}>{size}</option>
          ))}
        </select>
      </label>
      <label>
        Name
        <input
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
          placeholder="chosen for you"
          pattern="[a-z0-9][a-z0-9_\-]{0,62}"
          title="Lower-case letters, digits, - and _, starting with a letter or digit"
          autocomplete="off"
          spellcheck={false}
        />
      </label>
      <label class="check wide">
        <input type="checkbox" checked={starter} onChange={(event) => setStarter(event.currentTarget.checked)} />
        <span>
          Put a counter in it: <code>python3 count.py</code>, typed and waiting
        </span>
      </label>
      <Faults fault={fault} images={images} />
      <div class="wide row">
        <button type="submit" class="fill big" disabled={busy || chosen === ""}>
          {busy ? "Launching…" : "Launch sandbox"}
        </button>
        {onCancel === undefined ? null : (
          <button type="button" class="big" onClick={onCancel}>
            Not now
          </button>
        )}
      </div>
    </form>
  );
}

function Faults({ fault, images }: { readonly fault: Error | undefined; readonly images: ReturnType<typeof useImages> }) {
  return (
    <>
      {fault === undefined ? null : (
        <p class="fault wide" role="alert">
          {sentence(fault)}
        </p>
      )}
      {images instanceof Error ? (
        <p class="fault wide" role="alert">
          The images could not be listed: {sentence(images)}
        </p>
      ) : null}
    </>
  );
}

/** References of the images of the node; undefined before the answer. */
function useImages(): readonly string[] | Error | undefined {
  const [images, setImages] = useState<readonly string[] | Error | undefined>(undefined);
  useEffect(() => {
    listImages().then((all) => setImages(referencesOf(all)), setImages);
  }, []);
  return images;
}

export function referencesOf(images: readonly Image[]): string[] {
  return images.flatMap(({ references, digest }) => (references.length > 0 ? references : [digest])).sort();
}

function NoImage() {
  return (
    <div class="empty">
      <h2>First, an image</h2>
      <p>A sandbox starts from an image, and this node has none. Build a small Debian with Python and git, without any registry:</p>
      <pre>torpor image build debian --package python3 --package git</pre>
      <p>or fetch one from a registry:</p>
      <pre>torpor image pull python:3.12</pre>
      <p class="soft small">Then load this page again.</p>
    </div>
  );
}
