// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Rfc6962} from "./Rfc6962.sol";

/// Keeps the heads of append-only receipt logs, and the signer of each part of a log.
///
/// Any account may open a log, without a fee. No account can change, delete or pause one: the
/// contract has no administrator and cannot be replaced. A log's owner can only append: each root
/// must prove that it continues the one before, so an anchored size keeps its leaves for ever.
/// The index in the log orders everything; block numbers and clocks play no part.
contract AnchorRegistry {
    struct Log {
        address owner;
        /// Leaves under the newest root; 0 before the first anchor.
        uint64 size;
        /// How many sizes are anchored: who reads them elsewhere can see that none is missing.
        uint32 count;
    }

    /// The leaves a key may sign for: from <= index < until.
    struct Range {
        uint64 from;
        uint64 until;
        bool added;
    }

    /// `until` of a signer that is not retired.
    uint64 public constant OPEN_END = type(uint64).max;

    mapping(bytes32 id => Log) public logs;

    /// The root of each size that was anchored; zero for all others.
    mapping(bytes32 id => mapping(uint64 size => bytes32)) public rootAt;

    mapping(bytes32 id => mapping(address signer => Range)) public signers;

    event LogOpened(bytes32 indexed id, address indexed owner, string origin);
    event OwnerChanged(bytes32 indexed id, address indexed owner);
    event SignerAdded(bytes32 indexed id, address indexed signer, uint64 fromIndex);
    event SignerRetired(bytes32 indexed id, address indexed signer, uint64 untilIndex);
    event Anchored(
        bytes32 indexed id, uint64 indexed size, bytes32 root, uint64 previousSize, uint32 count
    );

    error LogExists();
    error NotOwner();
    error ZeroValue();
    /// An anchor must hold more leaves than the one before.
    error NotLarger(uint64 current);
    /// The new root does not prove that it continues the anchored one.
    error Inconsistent();
    /// A key is a signer once: its leaves are one range.
    error SignerExists();
    error NoSuchSigner();
    /// A retirement can be brought forward, never put off.
    error NotEarlier(uint64 current);

    modifier onlyOwner(bytes32 id) {
        if (logs[id].owner != msg.sender) revert NotOwner();
        _;
    }

    /// The id of the log that `owner` opens for `origin`. It hashes the owner, so no other can take it.
    function logIdOf(address owner, string calldata origin) public view returns (bytes32) {
        return keccak256(abi.encode(block.chainid, address(this), owner, keccak256(bytes(origin))));
    }

    /// Opens the sender's log for an origin. `signer` signs from the first leaf.
    function open(string calldata origin, address signer) external returns (bytes32 id) {
        id = logIdOf(msg.sender, origin);
        if (logs[id].owner != address(0)) revert LogExists();
        logs[id].owner = msg.sender;
        emit LogOpened(id, msg.sender, origin);
        _addSigner(id, signer, 0);
    }

    function setOwner(bytes32 id, address owner) external onlyOwner(id) {
        if (owner == address(0)) revert ZeroValue();
        logs[id].owner = owner;
        emit OwnerChanged(id, owner);
    }

    /// Lets a key sign for the leaves from `fromIndex` on. Ranges of two keys may overlap.
    function addSigner(bytes32 id, address signer, uint64 fromIndex) external onlyOwner(id) {
        _addSigner(id, signer, fromIndex);
    }

    /// Ends a key's range before `untilIndex`. At or below its first index, no leaf is left to it.
    function retireSigner(bytes32 id, address signer, uint64 untilIndex) external onlyOwner(id) {
        Range storage range = signers[id][signer];
        if (!range.added) revert NoSuchSigner();
        if (untilIndex >= range.until) revert NotEarlier(range.until);
        range.until = untilIndex;
        emit SignerRetired(id, signer, untilIndex);
    }

    /// Makes `root` the head of the log.
    /// @param consistency the proof of RFC 9162 from the current head to the new one; empty for the
    /// first anchor.
    function anchor(bytes32 id, uint64 size, bytes32 root, bytes32[] calldata consistency)
        external
        onlyOwner(id)
    {
        Log storage log = logs[id];
        uint64 current = log.size;
        if (size <= current) revert NotLarger(current);
        // Zero stands for "not anchored": finding an input whose SHA-256 is zero is infeasible.
        if (root == 0) revert ZeroValue();
        bool continues = current == 0
            ? consistency.length == 0
            : Rfc6962.verifyConsistency(current, size, rootAt[id][current], root, consistency);
        if (!continues) revert Inconsistent();
        uint32 count = log.count + 1;
        log.size = size;
        log.count = count;
        rootAt[id][size] = root;
        emit Anchored(id, size, root, current, count);
    }

    /// The newest anchor; zeros before the first.
    function head(bytes32 id) external view returns (uint64 size, bytes32 root, uint32 count) {
        Log storage log = logs[id];
        size = log.size;
        return (size, rootAt[id][size], log.count);
    }

    /// Whether `leafHash` has this index in the log as anchored at `size`; false for other sizes.
    /// @param leafHash SHA-256(0x00 || kind || digest), never anything handed in as it is.
    function verify(
        bytes32 id,
        uint64 size,
        uint64 index,
        bytes32 leafHash,
        bytes32[] calldata proof
    ) external view returns (bool) {
        bytes32 root = rootAt[id][size];
        return root != 0 && Rfc6962.verifyInclusion(index, size, leafHash, proof, root);
    }

    /// Whether a key may sign for the leaf with this index; false for a key never added.
    function isSigner(bytes32 id, address signer, uint64 index) external view returns (bool) {
        Range storage range = signers[id][signer];
        return range.from <= index && index < range.until;
    }

    function _addSigner(bytes32 id, address signer, uint64 fromIndex) private {
        if (signer == address(0)) revert ZeroValue();
        if (signers[id][signer].added) revert SignerExists();
        signers[id][signer] = Range({from: fromIndex, until: OPEN_END, added: true});
        emit SignerAdded(id, signer, fromIndex);
    }
}
