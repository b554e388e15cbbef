package io.tessera.agent.instrument;

import java.util.ArrayList;
import java.util.List;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.asm.AsmVisitorWrapper;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.dynamic.scaffold.MethodGraph;
import net.bytebuddy.dynamic.scaffold.TypeValidation;
import net.bytebuddy.dynamic.scaffold.inline.MethodNameTransformer;
import net.bytebuddy.implementation.SuperMethodCall;
import net.bytebuddy.matcher.ElementMatchers;
import net.bytebuddy.pool.TypePool;

/**
 * Instruments one class by its rules. Advice is copied into Java methods; the rest of the class stays unchanged. Native methods, JavaCPP's
 * for example, get a wrapper; the JVM finds their code under the old name because the agent has set {@link #NATIVE_PREFIX}. Any thread.
 */
public final class Instrumenter {
    /** Prefix of wrapped native methods (java.lang.instrument, native method prefix). */
    public static final String NATIVE_PREFIX = "tessera$";

    private final Table table;
    private final WrappedClasses wrapped;
    private final ClassCache cache;
    private final Advices advices = new Advices();

    /**
     * Creates the instrumenter, which loads ByteBuddy.
     *
     * @param table the rules
     * @param wrapped receives the classes whose native methods were wrapped
     * @param cache receives the instrumented classes
     */
    public Instrumenter(Table table, WrappedClasses wrapped, ClassCache cache) {
        this.table = table;
        this.wrapped = wrapped;
        this.cache = cache;
    }

    /**
     * Instruments a class.
     *
     * @param loader the class's, not null
     * @param name its internal name
     * @param code its class file
     * @param loaded whether it is already loaded: its set of methods must then stay the same, so native methods are wrapped only if they
     *         were wrapped before
     * @return the new class file, or null if there is nothing to do
     */
    public byte[] instrument(ClassLoader loader, String name, byte[] code, boolean loaded) {
        String dotted = name.replace('/', '.');
        ClassFileLocator locator = new ClassFileLocator.Compound(ClassFileLocator.Simple.of(dotted, code),
                ClassFileLocator.ForClassLoader.of(loader));
        TypeDescription type = TypePool.Default.of(locator).describe(dotted).resolve();
        List<Found> java = new ArrayList<>();
        List<Found> natives = new ArrayList<>();
        for (MethodDescription.InDefinedShape method : type.getDeclaredMethods()) {
            for (Rule rule : table.of(dotted)) {
                if (rule.matches(method.getName()) && fits(rule, method)) {
                    (method.isNative() ? natives : java).add(new Found(rule, method));
                    break;
                }
            }
        }
        if (loaded && !wrapped.contains(loader, name)) {
            natives.clear();
        } else if (!natives.isEmpty()) {
            wrapped.add(loader, name);
        }
        byte[] now = code;
        if (!natives.isEmpty()) {
            now = wrap(type, locator, natives);
        }
        if (!java.isEmpty()) {
            ClassFileLocator changed = natives.isEmpty() ? locator
                    : new ClassFileLocator.Compound(ClassFileLocator.Simple.of(dotted, now), locator);
            now = decorate(type, changed, java);
        }
        if (now == code) {
            return null;
        }
        if (!loaded) {
            cache.keep(name, code, now, !natives.isEmpty());
        }
        return now;
    }

    static boolean fits(Rule rule, MethodDescription method) {
        if (method.isAbstract() || method.getParameters().size() < rule.arguments() || method.isSynthetic()) {
            return false;
        }
        // A pattern matches the public interface, not its private native twins.
        return !rule.isPattern() || method.isPublic();
    }

    private byte[] decorate(TypeDescription type, ClassFileLocator locator, List<Found> found) {
        AsmVisitorWrapper.ForDeclaredMethods visitor = new AsmVisitorWrapper.ForDeclaredMethods();
        for (Found one : found) {
            visitor = visitor.method(ElementMatchers.is(one.method), advices.of(one.rule, one.method));
        }
        return byteBuddy().decorate(type, locator).visit(visitor).make().getBytes();
    }

    private byte[] wrap(TypeDescription type, ClassFileLocator locator, List<Found> found) {
        DynamicType.Builder<?> builder = byteBuddy().rebase(type, locator,
                new MethodNameTransformer.Prefixing(NATIVE_PREFIX));
        for (Found one : found) {
            Advice advice = advices.of(one.rule, one.method);
            builder = builder.method(ElementMatchers.is(one.method)).intercept(advice.wrap(SuperMethodCall.INSTANCE));
        }
        return builder.make().getBytes();
    }

    private static ByteBuddy byteBuddy() {
        return new ByteBuddy().with(TypeValidation.DISABLED).with(MethodGraph.Compiler.ForDeclaredMethods.INSTANCE)
                .ignore(ElementMatchers.none());
    }

    /** A method and the rule that matches it. */
    private static final class Found {
        final Rule rule;
        final MethodDescription.InDefinedShape method;

        Found(Rule rule, MethodDescription.InDefinedShape method) {
            this.rule = rule;
            this.method = method;
        }
    }
}
