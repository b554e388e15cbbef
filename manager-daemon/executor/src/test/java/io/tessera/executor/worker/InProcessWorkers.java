package io.tessera.executor.worker;

import io.tessera.device.CudaResult;
import io.tessera.executor.jit.CodeOptions;
import io.tessera.executor.jit.LinkerInput;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Rewrites in the test's own process, assembles nothing, and writes down what it is asked. One thread. */
public final class InProcessWorkers implements CodeWorkers {
    private final Set<Thread> abandoned = ConcurrentHashMap.newKeySet();
    /** Requests, in order. */
    public final List<String> asked = new ArrayList<>();
    /** The text that was assembled last. */
    public byte[] assembled;
    /** The options of that. */
    public CodeOptions options;
    /** The answer to requests to assemble; null: it is done. */
    public Answer refused;
    /** Tables in the place of those that belong to a text; null: those. */
    public byte[] tables;

    @Override
    public Answer fence(String tenant, FenceRequest request, List<byte[]> images) {
        asked.add("fence " + (request.plain().all() ? "plain " : request.plain().names().isEmpty() ? "" : request.plain().names() + " plain ")
                + tenant);
        Message answer = FenceJob.run(FenceJob.message(request, images));
        List<byte[]> parts = new ArrayList<>(answer.parts());
        for (int i = 1; i < parts.size() && tables != null; i += 2) {
            parts.set(i, tables);
        }
        return new Answer(answer.numbers().getFirst().intValue(), answer.text(), parts);
    }

    @Override
    public Answer assemble(String tenant, byte[] text, CodeOptions given) {
        asked.add("assemble " + tenant);
        assembled = text;
        options = given;
        return refused == null ? new Answer(CudaResult.SUCCESS, "", List.of()) : refused;
    }

    @Override
    public Answer link(String tenant, List<LinkerInput> inputs, CodeOptions given) {
        throw new UnsupportedOperationException("no test links so");
    }

    @Override
    public void abandon(Thread client) {
        abandoned.add(client);
    }

    @Override
    public boolean isAbandoned(Thread client) {
        return abandoned.contains(client);
    }

    @Override
    public void expect() {
        // it is there
    }

    @Override
    public void close() {
        // it has nothing
    }
}
