package io.tessera.agent.instrument;

import io.tessera.agent.boot.AgentCounters;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.annotation.Annotation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.implementation.bytecode.assign.Assigner;
import net.bytebuddy.implementation.bytecode.member.MethodInvocation;

/**
 * Creates the advice of a rule for a method: the role's advice with the rule's arguments bound. Exceptions in advice are counted and not
 * propagated. Any thread.
 */
final class Advices {
    private static final Map<Role, Class<?>> BY_ROLE = Map.of(Role.ALLOC, AllocAdvice.class,
            Role.FREE, FreeAdvice.class, Role.NAME, NameAdvice.class, Role.LAUNCH, LaunchAdvice.class,
            Role.COPY, CopyAdvice.class, Role.DERIVE, DeriveAdvice.class);

    private final ClassFileLocator own = adviceClasses();
    private final Advice.ExceptionHandler counting;

    Advices() {
        try {
            counting = new Advice.ExceptionHandler.Simple(MethodInvocation.invoke(new MethodDescription.ForLoadedMethod(
                    AgentCounters.class.getMethod("suppressed", Throwable.class))));
        } catch (NoSuchMethodException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Returns the advice's class files, read once for all methods. */
    private static ClassFileLocator adviceClasses() {
        Map<String, byte[]> files = new HashMap<>();
        List<Class<?>> types = new ArrayList<>(BY_ROLE.values());
        types.add(ReturnedAllocAdvice.class);
        for (Class<?> type : types) {
            try (InputStream in = Advices.class.getClassLoader().getResourceAsStream(
                    type.getName().replace('.', '/') + ".class")) {
                files.put(type.getName(), in.readAllBytes());
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        }
        return new ClassFileLocator.Compound(new ClassFileLocator.Simple(files),
                ClassFileLocator.ForClassLoader.of(Advices.class.getClassLoader()));
    }

    Advice of(Rule rule, MethodDescription method) {
        Advice.WithCustomMapping binding = Advice.withCustomMapping();
        Class<?> type = BY_ROLE.get(rule.role());
        switch (rule.role()) {
            case ALLOC :
                if (rule.argument("address") == Rule.RETURN) {
                    type = ReturnedAllocAdvice.class;
                } else {
                    binding = object(binding, Bound.Address.class, rule.argument("address"));
                }
                binding = size(binding, rule).bind(Bound.Kind.class, (Object) rule.constantKind());
                break;
            case FREE :
                binding = object(binding, Bound.Address.class, rule.argument("address"));
                break;
            case NAME :
                binding = object(binding, Bound.Kernel.class, rule.argument("kernel"));
                binding = object(binding, Bound.Name.class, rule.argument("name"));
                break;
            case LAUNCH :
                binding = rule.argument("kernel") == Rule.ABSENT
                        ? binding.bind(Bound.Kernel.class, (Object) method.getName())
                        : object(binding, Bound.Kernel.class, rule.argument("kernel"));
                break;
            case COPY :
                binding = size(binding, rule);
                binding = rule.isDirectionConstant() ? binding.bind(Bound.Direction.class, (Object) rule.direction())
                        : argument(binding, Bound.Direction.class, int.class, rule.direction());
                break;
            default :
                break;
        }
        return binding.to(type, own).withExceptionHandler(counting);
    }

    private static Advice.WithCustomMapping size(Advice.WithCustomMapping binding, Rule rule) {
        return factor(factor(binding, Bound.Bytes.class, rule.factor(0), rule.constantSize()), Bound.Factor.class,
                rule.factor(1), 1);
    }

    private static Advice.WithCustomMapping factor(Advice.WithCustomMapping binding, Class<? extends Annotation> mark,
            int place, long otherwise) {
        return place == Rule.ABSENT ? binding.bind(mark, (Object) otherwise)
                : argument(binding, mark, long.class, place);
    }

    private static Advice.WithCustomMapping object(Advice.WithCustomMapping binding, Class<? extends Annotation> mark,
            int place) {
        return argument(binding, mark, Object.class, place);
    }

    private static Advice.WithCustomMapping argument(Advice.WithCustomMapping binding, Class<? extends Annotation> mark,
            Class<?> type, int place) {
        Assigner.Typing typing = type.isPrimitive() ? Assigner.Typing.STATIC : Assigner.Typing.DYNAMIC;
        return binding.bind(mark, new Advice.OffsetMapping.ForArgument.Unresolved(
                TypeDescription.ForLoadedType.of(type).asGenericType(), true, typing, place));
    }
}
