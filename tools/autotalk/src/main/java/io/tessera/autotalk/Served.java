package io.tessera.autotalk;

import java.util.ArrayList;
import java.util.List;

/**
 * An entry with its index in the tables and the decision how it is served.
 *
 * @param index   position in {@code tessera_real}
 * @param entry   the entry, annotated
 * @param service how it is served
 */
record Served(int index, Entry entry, Service service) {

    /** All entries of a description, in its order. Fails on the first problem of the annotations. */
    static List<Served> all(Description description, Annotations annotations) {
        List<String> problems = annotations.problems(description);
        if (!problems.isEmpty()) {
            throw new AutotalkException("the annotations do not fit: " + problems.getFirst() + " (and "
                    + (problems.size() - 1) + " more; see autotalk check)");
        }
        List<Served> served = new ArrayList<>();
        for (Entry entry : description.entries().values()) {
            served.add(new Served(served.size(), annotations.annotated(entry),
                    annotations.serviceOf(entry).orElseThrow()));
        }
        return served;
    }

    boolean passes() {
        return service instanceof Service.Pass;
    }

    boolean wrapped() {
        return service instanceof Service.Submit || service instanceof Service.Sync;
    }

    String prototype() {
        List<Parameter> parameters = entry.parameters().orElseThrow();
        return parameters.isEmpty() ? "void" : String.join(", ",
                parameters.stream().map(p -> TypeSpelling.declare(p.type(), p.name())).toList());
    }

    String arguments() {
        return String.join(", ", entry.parameters().orElseThrow().stream().map(Parameter::name).toList());
    }
}
