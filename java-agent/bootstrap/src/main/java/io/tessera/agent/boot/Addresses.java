package io.tessera.agent.boot;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.LongBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Reads the address or handle that an argument represents: a number, the first element of a {@code long[]} or a
 * {@code LongBuffer}, or a member of a library's pointer class that the instrumentation table names. Any thread;
 * reading creates nothing after the first object of a class.
 */
public final class Addresses {
    private static final Map<String, Member> MEMBERS = new ConcurrentHashMap<>();
    private static final MethodType SHAPE = MethodType.methodType(long.class, Object.class);
    private static final MethodType NESTED = MethodType.methodType(Object.class, Object.class);
    private static final Reader NONE = new Reader(null, null, null, false);
    private static final ClassValue<Reader> READERS = new ClassValue<>() {
        @Override
        protected Reader computeValue(Class<?> type) {
            return reader(type);
        }
    };

    private Addresses() {
    }

    /**
     * Names the member of a class, and of its subclasses, that holds an address.
     *
     * @param type name of the class
     * @param member a field, or a method without parameters ({@code name()}): a number, another pointer object, or
     *        for a kernel its name
     * @param offset a field to add, or null
     * @param owner whether the object represents the memory (otherwise it is a cell that happens to hold an address)
     */
    public static void define(String type, String member, String offset, boolean owner) {
        MEMBERS.put(type, new Member(member, offset, owner));
    }

    /** Returns the address in an argument; 0: it holds none, or its class is unknown. */
    static long of(Object argument) throws Throwable {
        if (argument == null) {
            return 0;
        }
        if (argument instanceof Long) {
            return (Long) argument;
        }
        if (argument instanceof long[]) {
            return ((long[]) argument).length == 0 ? 0 : ((long[]) argument)[0];
        }
        if (argument instanceof LongBuffer) {
            return ((LongBuffer) argument).get(((LongBuffer) argument).position());
        }
        Reader reader = READERS.get(argument.getClass());
        if (reader.nested != null) {
            return of(reader.nested.invokeExact(argument));
        }
        if (reader.address == null) {
            return 0;
        }
        long address = (long) reader.address.invokeExact(argument);
        return reader.offset == null ? address : address + (long) reader.offset.invokeExact(argument);
    }

    /** Returns the name in an argument: a text, or an object whose name member is a text; null: it has none. */
    static String nameOf(Object argument) throws Throwable {
        if (argument instanceof String) {
            return (String) argument;
        }
        Reader reader = argument == null ? NONE : READERS.get(argument.getClass());
        Object member = reader.nested == null ? null : reader.nested.invokeExact(argument);
        return member instanceof String ? (String) member : null;
    }

    /** Returns whether the object represents the memory, so that its collection is significant. */
    static boolean isOwner(Object argument) {
        return argument != null && READERS.get(argument.getClass()).owner;
    }

    private static Reader reader(Class<?> type) {
        for (Class<?> t = type; t != null; t = t.getSuperclass()) {
            Member member = MEMBERS.get(t.getName());
            if (member != null) {
                try {
                    return member.reader(t);
                } catch (ReflectiveOperationException | RuntimeException failure) {
                    AgentCounters.suppressed(failure);
                    return NONE;
                }
            }
        }
        return NONE;
    }

    /** One class's entry in the table. */
    private static final class Member {
        private final String name;
        private final String offset;
        private final boolean owner;

        Member(String name, String offset, boolean owner) {
            this.name = name;
            this.offset = offset;
            this.owner = owner;
        }

        Reader reader(Class<?> type) throws ReflectiveOperationException {
            MethodHandle address = handle(type, name);
            MethodHandle added = offset == null ? null : handle(type, offset);
            if (address.type().returnType().isPrimitive()) {
                return new Reader(address.asType(SHAPE), added == null ? null : added.asType(SHAPE), null, owner);
            }
            return new Reader(null, null, address.asType(NESTED), owner);
        }

        private static MethodHandle handle(Class<?> type, String member) throws ReflectiveOperationException {
            for (Class<?> t = type; t != null; t = t.getSuperclass()) {
                try {
                    if (member.endsWith("()")) {
                        Method method = t.getDeclaredMethod(member.substring(0, member.length() - 2));
                        method.setAccessible(true);
                        return MethodHandles.lookup().unreflect(method);
                    }
                    Field field = t.getDeclaredField(member);
                    field.setAccessible(true);
                    return MethodHandles.lookup().unreflectGetter(field);
                } catch (NoSuchFieldException | NoSuchMethodException inherited) {
                    continue;
                }
            }
            throw new NoSuchFieldException(type.getName() + "." + member);
        }
    }

    /** Reads the address or name from objects of one class. */
    private static final class Reader {
        final MethodHandle address;
        final MethodHandle offset;
        final MethodHandle nested;
        final boolean owner;

        Reader(MethodHandle address, MethodHandle offset, MethodHandle nested, boolean owner) {
            this.address = address;
            this.offset = offset;
            this.nested = nested;
            this.owner = owner;
        }
    }
}
