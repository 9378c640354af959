/** A page whose code is loaded when it is first opened, and again when the server is back. What it throws is shown. */
import type { FunctionComponent } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { Failure, Loading, PageHead } from "../parts/states.js";
import { useLoaded } from "./loaded.js";

type Load = () => Promise<{ readonly default: FunctionComponent }>;

export function later(name: string, load: Load): FunctionComponent {
  let Page: FunctionComponent | undefined;
  return function Later() {
    const [thrown] = useErrorBoundary();
    const loaded = useLoaded(async () => {
      Page ??= (await load()).default;
    }, []);
    const error = thrown ?? (loaded.state === "failed" ? FAILED : undefined);
    if (Page && error === undefined) return <Page />;
    return (
      <div class="page">
        <PageHead title={name} />
        {error === undefined ? (
          <Loading label="the page" />
        ) : (
          // A new version of the server has other files.
          <Failure error={error} action="Reload" retry={() => location.reload()} />
        )}
      </div>
    );
  };
}

const FAILED = "this page could not be loaded: the server is away, or was updated";
