package io.tessera.manager.placement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.protocol.DeviceUuid;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;

/** Properties of all rules, and promises of each one, over random devices. A failure names the seed. */
class PlacementPropertyTest {
    /** Few values, so that many devices are equal. */
    private static List<DeviceUse> devices(Random random) {
        List<DeviceUse> devices = new ArrayList<>();
        int count = 1 + random.nextInt(6);
        for (int i = 0; i < count; i++) {
            long capacity = 100L * (1 + random.nextInt(3));
            devices.add(new DeviceUse(new DeviceUuid(0, i), capacity, random.nextInt((int) capacity / 20 + 1) * 20L, random.nextInt(4), 0,
                    random.nextInt(3) / 2.0));
        }
        return devices;
    }

    private static DeviceUse chosen(DevicePlacement rule, List<DeviceUse> devices, long wishedBytes) {
        DeviceUuid uuid = PlacementChoice.of(rule, devices, wishedBytes).device();
        return devices.stream().filter(device -> device.device().equals(uuid)).findFirst().orElseThrow();
    }

    private static boolean isLeast(DeviceUse chosen, List<DeviceUse> among, ToDoubleFunction<DeviceUse> figure) {
        return among.stream().allMatch(other -> figure.applyAsDouble(chosen) <= figure.applyAsDouble(other));
    }

    @Property(tries = 500, shrinking = ShrinkingMode.OFF)
    void aDeviceWithoutRoomIsTakenOnlyWhereNoneHasRoom(@ForAll long seed) {
        Random random = new Random(seed);
        List<DeviceUse> devices = devices(random);
        long wishedBytes = random.nextInt(320);
        Predicate<DeviceUse> hasRoom = device -> device.freeBytes() >= device.needBytes(wishedBytes);
        for (DevicePlacement rule : EnumSet.complementOf(EnumSet.of(DevicePlacement.NONE))) {
            DeviceUse chosen = chosen(rule, devices, wishedBytes);
            List<DeviceUse> fitting = devices.stream().filter(hasRoom).toList();
            if (fitting.isEmpty()) {
                assertTrue(isLeast(chosen, devices, device -> -device.freeBytes()), "seed " + seed + ", " + rule);
                continue;
            }
            assertTrue(hasRoom.test(chosen), "seed " + seed + ", " + rule);
            assertTrue(isLeast(chosen, fitting, switch (rule) {
                case PACK -> DeviceUse::freeBytes;
                case LEAST_LOADED -> DeviceUse::busyShare;
                default -> DeviceUse::clients;
            }), "seed " + seed + ", " + rule);
        }
    }

    /** Equal devices keep their order, whatever follows them. */
    @Property(tries = 500, shrinking = ShrinkingMode.OFF)
    void ofEqualDevicesTheFirstIsTaken(@ForAll long seed) {
        Random random = new Random(seed);
        List<DeviceUse> devices = devices(random);
        long wishedBytes = random.nextInt(320);
        for (DevicePlacement rule : EnumSet.complementOf(EnumSet.of(DevicePlacement.NONE))) {
            DeviceUse chosen = chosen(rule, devices, wishedBytes);
            List<DeviceUse> more = new ArrayList<>(devices);
            for (int i = 0; i < 3; i++) {
                more.add(new DeviceUse(new DeviceUuid(1, i), chosen.capacityBytes(), chosen.freeBytes(), chosen.clients(), 0, chosen.busyShare()));
            }
            assertEquals(chosen.device(), chosen(rule, more, wishedBytes).device(), "seed " + seed + ", " + rule);
            assertTrue(devices.stream().takeWhile(device -> device != chosen).noneMatch(device -> device.capacityBytes() == chosen.capacityBytes()
                    && device.freeBytes() == chosen.freeBytes() && device.clients() == chosen.clients()
                    && device.busyShare() == chosen.busyShare()), "seed " + seed + ", " + rule);
        }
    }
}
