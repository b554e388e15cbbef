package io.tessera.software.driver.entry;

import io.tessera.software.launch.DeviceLimits;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.UUID;

/**
 * What the device says of itself: the numbers of CUdevice_attribute that are not zero. Where programs depend on a number
 * it is that of compute capability 9.0 (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability");
 * what the software GPU cannot do is said to be missing.
 *
 * @param limits of launches
 * @param machine bytes that are the same at every start on this machine and differ from others'
 * @param ordinal which of the machine's software GPUs it is
 * @param devices how many there are
 */
public record DeviceProfile(DeviceLimits limits, String machine, int ordinal, int devices) {
    /** The name. */
    public static final String NAME = "Tessera Software GPU";
    /** CUDA 13.0, whose interface the driver has. */
    public static final int DRIVER_VERSION = 13000;
    /** Bytes of constant memory. */
    public static final int CONSTANT_BYTES = 64 << 10;
    /** Largest pitch of a copy in bytes, as devices of capability 9.0 have it. */
    public static final int MAX_PITCH = Integer.MAX_VALUE;

    private static final int KILOHERTZ = 1_000_000;
    private static final int REGISTERS = 65536;
    private static final int GRID_YZ = 65535;
    private static final int TEXTURE_ROW = 131072;
    private static final int TEXTURE_VOLUME = 16384;
    private static final int LAYERS = 2048;

    private static final Map<Integer, Integer> FIXED = Map.ofEntries(
            Map.entry(4, 64), Map.entry(5, Integer.MAX_VALUE), Map.entry(6, GRID_YZ), Map.entry(7, GRID_YZ),
            Map.entry(8, 48 << 10), Map.entry(9, CONSTANT_BYTES), Map.entry(10, 32), Map.entry(11, MAX_PITCH),
            Map.entry(12, REGISTERS), Map.entry(13, KILOHERTZ), Map.entry(14, 512), Map.entry(15, 1),
            Map.entry(18, 1), Map.entry(19, 1), Map.entry(30, 512), Map.entry(31, 1), Map.entry(36, KILOHERTZ),
            Map.entry(37, 64), Map.entry(38, 1 << 20), Map.entry(40, 2), Map.entry(41, 1), Map.entry(44, 1),
            Map.entry(50, 0xffff), Map.entry(51, 32), Map.entry(75, 9), Map.entry(78, 1), Map.entry(79, 1),
            Map.entry(80, 1), Map.entry(82, REGISTERS), Map.entry(86, 1), Map.entry(87, 2), Map.entry(90, 1),
            Map.entry(91, 1), Map.entry(92, 1), Map.entry(93, 1), Map.entry(94, 1), Map.entry(95, 1),
            Map.entry(99, 1), Map.entry(102, 1), Map.entry(111, DeviceLimits.RESERVED_SHARED_BYTES),
            Map.entry(113, 1), Map.entry(115, 1), Map.entry(120, 1), Map.entry(122, 1), Map.entry(123, 1),
            Map.entry(126, 1), Map.entry(131, -1), Map.entry(134, -1));

    private static final Map<Integer, Integer> TEXTURES = Map.ofEntries(
            Map.entry(21, TEXTURE_ROW), Map.entry(22, TEXTURE_ROW), Map.entry(23, 65536),
            Map.entry(24, TEXTURE_VOLUME), Map.entry(25, TEXTURE_VOLUME), Map.entry(26, TEXTURE_VOLUME),
            Map.entry(27, 32768), Map.entry(28, 32768), Map.entry(29, LAYERS), Map.entry(42, 32768),
            Map.entry(43, LAYERS), Map.entry(45, 32768), Map.entry(46, 32768), Map.entry(47, 8192),
            Map.entry(48, 8192), Map.entry(49, 32768), Map.entry(52, 32768), Map.entry(53, 32768),
            Map.entry(54, 2046), Map.entry(55, 32768), Map.entry(56, TEXTURE_ROW), Map.entry(57, 65536),
            Map.entry(58, TEXTURE_VOLUME), Map.entry(59, TEXTURE_VOLUME), Map.entry(60, TEXTURE_VOLUME),
            Map.entry(61, 32768), Map.entry(62, LAYERS), Map.entry(63, 32768), Map.entry(64, 32768),
            Map.entry(65, LAYERS), Map.entry(66, 32768), Map.entry(67, 32768), Map.entry(68, 2046),
            Map.entry(69, 1 << 28), Map.entry(70, TEXTURE_ROW), Map.entry(71, 65000), Map.entry(72, 2097120),
            Map.entry(73, 32768), Map.entry(74, 32768), Map.entry(77, 32768));

    /** Highest attribute that cuda.h 13.0 knows. */
    private static final int LAST_ATTRIBUTE = 147;

    /** An attribute, or null where there is none with that number. */
    public Integer attribute(int attribute) {
        if (attribute < 1 || attribute > LAST_ATTRIBUTE) {
            return null;
        }
        return switch (attribute) {
            case 1, 2, 3 -> limits.threadsPerBlock();
            case 16 -> limits.multiprocessors();
            case 39 -> limits.residentThreads();
            case 81 -> limits.sharedBytesPerBlock() + DeviceLimits.RESERVED_SHARED_BYTES;
            case 97 -> limits.sharedBytesPerBlock();
            case 106 -> limits.residentBlocks();
            default -> FIXED.getOrDefault(attribute, TEXTURES.getOrDefault(attribute, 0));
        };
    }

    /** No PCI device has this address: the domain is one that no machine numbers. */
    public String pciBusId() {
        return String.format("FFFF:%02X:00.0", ordinal);
    }

    /** The device's UUID: the same at every start on this machine. */
    public byte[] uuid() {
        UUID name = UUID.nameUUIDFromBytes((NAME + machine + (ordinal == 0 ? "" : ordinal)).getBytes(StandardCharsets.UTF_8));
        byte[] bytes = new byte[16];
        for (int i = 0; i < 8; i++) {
            bytes[i] = (byte) (name.getMostSignificantBits() >>> 56 - 8 * i);
            bytes[8 + i] = (byte) (name.getLeastSignificantBits() >>> 56 - 8 * i);
        }
        return bytes;
    }
}
