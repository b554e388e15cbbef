package io.tessera.software.driver.entry;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Numbers of objects in the interface. They look like addresses but are not; no number is used again. Thread-safe. */
public final class DriverHandles {
    /** Above all that Linux maps on x86-64, so that a handle taken for a pointer is found out. */
    private static final long FIRST = 0x7e55_0000_0000_0000L;
    private static final long STEP = 16;
    private static final int INDICES = 1 << 20;

    private final Map<Long, Object> objects = new ConcurrentHashMap<>();
    private final Map<Object, Long> numbers = new IdentityHashMap<>();
    private long next = FIRST;
    private long nextIndex;

    /** Returns the number of an object; it gets one if it has none. */
    public synchronized long of(Object object) {
        return numbers.computeIfAbsent(object, made -> {
            next += STEP;
            objects.put(next, made);
            return next;
        });
    }

    /**
     * Returns a number for an object that kernels get: as on a GPU an index, below 2^20 and free again when the object has ended.
     *
     * @return 0: the maximum number of objects is reached
     */
    public synchronized long index(Object object) {
        for (int i = 0; i < INDICES; i++) {
            nextIndex = nextIndex % (INDICES - 1) + 1;
            if (objects.putIfAbsent(nextIndex, object) == null) {
                numbers.put(object, nextIndex);
                return nextIndex;
            }
        }
        return 0;
    }

    /** A number for an object that is made with its number. */
    synchronized long reserve() {
        next += STEP;
        return next;
    }

    /** Binds a reserved number. */
    synchronized void bind(long number, Object object) {
        objects.put(number, object);
        numbers.put(object, number);
    }

    /** Returns the object of a number, if it is of a type; else ends the entry with INVALID_HANDLE. */
    public <T> T get(long number, Class<T> type) {
        return get(number, type, CudaError.INVALID_HANDLE);
    }

    /** Returns the object of a number, if it is of a type; else ends the entry with an error. */
    public <T> T get(long number, Class<T> type, CudaError otherwise) {
        Object object = objects.get(number);
        DriverException.require(type.isInstance(object), otherwise);
        return type.cast(object);
    }

    /** Returns the object of a number, or null. */
    public Object find(long number) {
        return objects.get(number);
    }

    /** Forgets an object. */
    public synchronized void remove(Object object) {
        Long number = numbers.remove(object);
        if (number != null) {
            objects.remove(number);
        }
    }

    /** Forgets a number. */
    public synchronized void removeNumber(long number) {
        Object object = objects.remove(number);
        if (object != null) {
            numbers.remove(object);
        }
    }

    /** Forgets all objects of which something holds. */
    public synchronized void removeIf(Predicate<Object> condition) {
        numbers.keySet().removeIf(condition);
        objects.values().removeIf(condition);
    }

    /** Does something with each object of a type. */
    public <T> void each(Class<T> type, Consumer<T> action) {
        for (Object object : objects.values()) {
            if (type.isInstance(object)) {
                action.accept(type.cast(object));
            }
        }
    }
}
