// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AnchorRegistry} from "./AnchorRegistry.sol";
import {Rfc6962} from "./Rfc6962.sol";

/// Checks Counterfoil receipts, version 1, for other contracts. It holds no state and trusts no
/// party: the calling contract names the registry and the log, never the holder of the receipt.
///
/// A receipt arrives with the EIP-712 hash of each of its five sections. `hashCharge` and its like
/// compute the hash of a section that is shown in full; a hidden section is its hash alone.
contract ReceiptVerifier {
    struct Receipt {
        string id;
        /// Public origin of who issued it.
        string issuer;
        /// Milliseconds since 1970.
        uint64 issuedAt;
        bytes32 subject;
        bytes32 passport;
        bytes32 run;
        bytes32 charge;
        bytes32 content;
    }

    struct Subject {
        address account;
        string key;
        bytes32 salt;
    }

    struct Passport {
        string handle;
        bytes32 salt;
    }

    struct Run {
        string kind;
        string model;
        string route;
        string outcome;
        uint64 startedAt;
        uint64 durationMs;
        string usageSource;
        bytes32 salt;
    }

    struct Charge {
        string unit;
        Line[] lines;
        uint64 discountBps;
        /// nano-USD.
        uint64 amount;
        string priceList;
        bytes32 salt;
    }

    struct Line {
        string meter;
        uint64 quantity;
        /// pico-USD a unit.
        uint64 price;
    }

    struct Content {
        bytes32 input;
        bytes32 output;
    }

    /// Where the receipt is in the log: its index, and its path in the log as anchored at `size`.
    struct Proof {
        uint64 size;
        uint64 index;
        bytes32[] path;
    }

    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId)");
    bytes32 private constant RECEIPT_TYPEHASH = keccak256(
        "Receipt(string id,string issuer,uint64 issuedAt,"
        "Subject subject,Passport passport,Run run,Charge charge,Content content)"
        "Charge(string unit,Line[] lines,uint64 discountBps,"
        "uint64 amount,string priceList,bytes32 salt)"
        "Content(bytes32 input,bytes32 output)"
        "Line(string meter,uint64 quantity,uint64 price)"
        "Passport(string handle,bytes32 salt)"
        "Run(string kind,string model,string route,string outcome,"
        "uint64 startedAt,uint64 durationMs,string usageSource,bytes32 salt)"
        "Subject(address account,string key,bytes32 salt)"
    );
    bytes32 private constant SUBJECT_TYPEHASH =
        keccak256("Subject(address account,string key,bytes32 salt)");
    bytes32 private constant PASSPORT_TYPEHASH = keccak256("Passport(string handle,bytes32 salt)");
    bytes32 private constant RUN_TYPEHASH = keccak256(
        "Run(string kind,string model,string route,string outcome,"
        "uint64 startedAt,uint64 durationMs,string usageSource,bytes32 salt)"
    );
    bytes32 private constant CHARGE_TYPEHASH = keccak256(
        "Charge(string unit,Line[] lines,uint64 discountBps,"
        "uint64 amount,string priceList,bytes32 salt)"
        "Line(string meter,uint64 quantity,uint64 price)"
    );
    bytes32 private constant LINE_TYPEHASH =
        keccak256("Line(string meter,uint64 quantity,uint64 price)");
    bytes32 private constant CONTENT_TYPEHASH = keccak256("Content(bytes32 input,bytes32 output)");

    /// Half the order of secp256k1, rounded down: a signature with a larger s has a smaller twin.
    uint256 private constant HALF_ORDER =
        0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    uint8 private constant RECEIPT_KIND = 0;

    /// The domain of all receipts: 4663 wherever this contract runs, and no verifying contract.
    bytes32 public immutable domainSeparator = keccak256(
        abi.encode(DOMAIN_TYPEHASH, keccak256("Counterfoil Receipt"), keccak256("1"), uint256(4663))
    );

    /// Not 65 bytes r, s, v with v 27 or 28 and s in the lower half, or no key recovers from it.
    error BadSignature();
    /// Well signed, but by a key that may not sign for this index of this log.
    error WrongSigner(address signer);
    /// The log as anchored at this size does not hold the receipt at this index.
    error NotInLog();

    /// Passes only for a receipt that a signer of the log signed and that stands in the log, at
    /// that index, under an anchored root. Its `issuer` is what it claims; `logId` is who it is.
    /// @param signature 65 bytes: r, s, v.
    /// @return digest what was signed, and `signer` who signed it.
    function verify(
        AnchorRegistry registry,
        bytes32 logId,
        Receipt calldata receipt,
        bytes calldata signature,
        Proof calldata proof
    ) external view returns (bytes32 digest, address signer) {
        digest = digestOf(receipt);
        signer = signerOf(digest, signature);
        if (!registry.isSigner(logId, signer, proof.index)) revert WrongSigner(signer);
        bytes32 leaf = Rfc6962.leafHash(RECEIPT_KIND, digest);
        if (!registry.verify(logId, proof.size, proof.index, leaf, proof.path)) revert NotInLog();
    }

    /// The EIP-712 digest: the same whichever sections are hidden.
    function digestOf(Receipt calldata receipt) public view returns (bytes32) {
        bytes32 structHash = keccak256(
            abi.encode(
                RECEIPT_TYPEHASH,
                keccak256(bytes(receipt.id)),
                keccak256(bytes(receipt.issuer)),
                receipt.issuedAt,
                receipt.subject,
                receipt.passport,
                receipt.run,
                receipt.charge,
                receipt.content
            )
        );
        return keccak256(abi.encodePacked(hex"1901", domainSeparator, structHash));
    }

    /// The leaf of the log that stands for the receipt with this digest.
    function leafOf(bytes32 digest) external view returns (bytes32) {
        return Rfc6962.leafHash(RECEIPT_KIND, digest);
    }

    /// The signer of a digest. Accepts one spelling of a signature, so that it cannot be malleated.
    function signerOf(bytes32 digest, bytes calldata signature)
        public
        pure
        returns (address signer)
    {
        if (signature.length != 65) revert BadSignature();
        bytes32 r = bytes32(signature[0:32]);
        bytes32 s = bytes32(signature[32:64]);
        uint8 v = uint8(signature[64]);
        // Other values of v make ecrecover answer zero.
        if (uint256(s) > HALF_ORDER) revert BadSignature();
        signer = ecrecover(digest, v, r, s);
        if (signer == address(0)) revert BadSignature();
    }

    function hashSubject(Subject calldata subject) external pure returns (bytes32) {
        return keccak256(
            abi.encode(
                SUBJECT_TYPEHASH, subject.account, keccak256(bytes(subject.key)), subject.salt
            )
        );
    }

    function hashPassport(Passport calldata passport) external pure returns (bytes32) {
        return keccak256(
            abi.encode(PASSPORT_TYPEHASH, keccak256(bytes(passport.handle)), passport.salt)
        );
    }

    function hashRun(Run calldata run) external pure returns (bytes32) {
        return keccak256(
            abi.encode(
                RUN_TYPEHASH,
                keccak256(bytes(run.kind)),
                keccak256(bytes(run.model)),
                keccak256(bytes(run.route)),
                keccak256(bytes(run.outcome)),
                run.startedAt,
                run.durationMs,
                keccak256(bytes(run.usageSource)),
                run.salt
            )
        );
    }

    function hashCharge(Charge calldata charge) external pure returns (bytes32) {
        bytes32[] memory lines = new bytes32[](charge.lines.length);
        for (uint256 i; i < lines.length; ++i) {
            Line calldata line = charge.lines[i];
            lines[i] = keccak256(
                abi.encode(LINE_TYPEHASH, keccak256(bytes(line.meter)), line.quantity, line.price)
            );
        }
        return keccak256(
            abi.encode(
                CHARGE_TYPEHASH,
                keccak256(bytes(charge.unit)),
                keccak256(abi.encodePacked(lines)),
                charge.discountBps,
                charge.amount,
                keccak256(bytes(charge.priceList)),
                charge.salt
            )
        );
    }

    function hashContent(Content calldata content) external pure returns (bytes32) {
        return keccak256(abi.encode(CONTENT_TYPEHASH, content.input, content.output));
    }
}
