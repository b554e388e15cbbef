package io.tessera.system;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives each test its {@link TestRun}. Fails a test that leaves an undeclared warning in a manager's log, an undeclared
 * entry in a client's error log, or an undeclared line of the library; keeps the directory of a test that failed. Owns the managers
 * that tests of a class share; after a failed test, the next one gets another manager.
 */
public final class RunWatcher implements ParameterResolver, AfterEachCallback, AfterAllCallback {
    private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(RunWatcher.class);
    private static final String RUN = "run";

    private final Map<SharedManager.Terms, SharedManager> shared = new HashMap<>();

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == TestRun.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return context.getStore(NAMESPACE).getOrComputeIfAbsent(RUN, key -> {
            try {
                return new TestRun(terms -> shared.computeIfAbsent(terms, SharedManager::new),
                        context.getRequiredTestClass().isAnnotationPresent(Sanitized.class));
            } catch (IOException e) {
                throw new IllegalStateException("the directories of the run cannot be made", e);
            }
        });
    }

    @Override
    public void afterEach(ExtensionContext context) throws IOException {
        TestRun run = context.getStore(NAMESPACE).get(RUN, TestRun.class);
        if (run == null) {
            return;
        }
        Throwable failure = context.getExecutionException().orElse(null);
        ProcessSummary account = run.account();
        try {
            run.end();
            List<String> unexpected = run.unexpected();
            if (failure == null && !unexpected.isEmpty()) {
                failure = new AssertionError("undeclared:\n  " + String.join("\n  ", unexpected));
            }
        } catch (RuntimeException | AssertionError e) {
            failure = failure == null ? e : failure;
        }
        close(run, Optional.ofNullable(failure), account, context);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        List<String> wrong = new ArrayList<>();
        for (SharedManager manager : shared.values()) {
            try {
                wrong.addAll(manager.end());
            } catch (RuntimeException | AssertionError e) {
                wrong.add(e.toString());
            }
        }
        if (!wrong.isEmpty()) {
            throw new AssertionError("after the last test, of managers that tests share:\n  " + String.join("\n  ", wrong));
        }
    }

    private void close(TestRun run, Optional<Throwable> failure, ProcessSummary account, ExtensionContext context)
            throws IOException {
        if (failure.isPresent()) {
            run.keepLogs();
            System.out.println(ProcessSummary.MARK + context.getTestClass().map(Class::getSimpleName).orElse("") + " "
                    + context.getDisplayName() + " failed; its run is kept in " + run.directory() + " and "
                    + run.sharedMemory() + run.shared().map(manager -> ", its manager's in " + manager.folders().directory()).orElse(""));
            account.lines().forEach(System.out::println);
            run.shared().ifPresent(shared.values()::remove);
        }
        run.forceClose(failure.isEmpty() && run.shared().isPresent());
        if (failure.isEmpty()) {
            run.shared().ifPresent(manager -> manager.process().forgetLog());
            run.folders().delete();
        } else if (context.getExecutionException().isEmpty()) {
            throw failure.get() instanceof AssertionError e ? e : new AssertionError(failure.get());
        }
    }
}
